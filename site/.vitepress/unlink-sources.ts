/** Links to files outside docs/ become plain text, because the site has no copy of these files. */

/** The part of a token of markdown-it that this rule needs. */
interface Token {
  type: string;
  attrGet(name: string): string | null;
}

interface State {
  tokens: { children: Token[] | null }[];
  env: { relativePath?: string };
}

interface Renderer {
  core: { ruler: { push(name: string, rule: (state: State) => void): void } };
}

/** Adds the rule to the Markdown renderer. */
export function unlinkSources(markdown: Renderer): void {
  markdown.core.ruler.push('unlink-sources', ({ tokens, env }) => {
    for (const token of tokens)
      if (token.children !== null) token.children = withoutSources(token.children, env.relativePath ?? '');
  });
}

/** A link never contains a link. So the next closing token belongs to the last opening token. */
function withoutSources(tokens: readonly Token[], page: string): Token[] {
  let unlinking = false;
  return tokens.filter((token) => {
    if (token.type === 'link_open') unlinking = leavesDocs(token.attrGet('href') ?? '', page);
    return !(unlinking && (token.type === 'link_open' || token.type === 'link_close'));
  });
}

function leavesDocs(href: string, page: string): boolean {
  if (URL.canParse(href)) return false;
  return !new URL(href, `file:///docs/${page}`).pathname.startsWith('/docs/');
}

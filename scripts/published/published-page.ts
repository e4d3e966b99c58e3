/**
 * Changes the documents from a clone to the published package: a reader then starts the program with npx. Pure.
 *
 * Commands change by rule. Sentences that are about the clone are here in both forms.
 */

interface Sentence {
  page: string;
  clone: string;
  published: string;
}

const SENTENCES: readonly Sentence[] = [
  {
    page: 'README.md',
    clone: `You need Node 20.19 or newer, but not 21, 22.0 or 22.1. The project is tested on Linux only. There is no published package yet. Clone this repository, and run in it:

\`\`\`sh
npm ci                                        # installs, and builds both programs
node dist/bridge/main.js install claude       # or gemini, codex, cursor, vscode; or --all
\`\`\`
`,
    published: `You need Node 20.19 or newer, but not 21, 22.0 or 22.1. The project is tested on Linux only.

\`\`\`sh
npx -y mcp-a2a-bridge install claude       # or gemini, codex, cursor, vscode; or --all
\`\`\`
`,
  },
  {
    page: 'README.md',
    clone: '; `npm link` makes both commands.\n[Plugins]',
    published: '; `npm install -g mcp-a2a-bridge` makes both commands.\n[Plugins]',
  },
  {
    page: 'README.md',
    clone: `You can also decide at a terminal, in the directory of the clone:
`,
    published: `You can also decide at a terminal:
`,
  },
  {
    page: 'docs/cli.md',
    clone: 'In a clone, `node dist/bridge/main.js` stands for `mcp-a2a-bridge`.',
    published: 'If it is not installed, `npx -y mcp-a2a-bridge` stands for `mcp-a2a-bridge`.',
  },
  {
    page: 'docs/guides.md',
    clone: 'In the clone, `npm link` makes the commands',
    published: '`npm install -g mcp-a2a-bridge` makes the commands',
  },
  {
    page: 'docs/clients.md',
    clone: `No version is published yet. So \`npm run packages\` writes the packages from this clone, with the program in them:

\`\`\`sh
npm run packages        # into dist/client-packages
\`\`\`

A package has the program and the native library of this machine. It needs Node 20.19 or newer, and nothing from npm. Without a
plugin, a tarball works too: \`npm pack\`, then \`npm install -g ./mcp-a2a-bridge-0.1.0.tgz\` also on another machine, and there
\`mcp-a2a-bridge install <client>\`. npm gets the dependencies. It may warn that the script \`prepare\` does not run: ignore that.
`,
    published: `A clone of the repository writes the packages:

\`\`\`sh
npm run packages -- --release        # into dist/client-packages
\`\`\`

A package starts the published version with npx, and needs Node 20.19 or newer. The desktop bundle contains the program.
`,
  },
  {
    page: 'docs/clients.md',
    clone: '`node dist/bridge/main.js install vscode`; a link needs a published version',
    published: '`npx -y mcp-a2a-bridge install vscode`, or the link in `dist/client-packages/links.md`',
  },
  {
    page: 'docs/clients.md',
    clone: '`node dist/bridge/main.js install cursor`; a link needs a published version',
    published: '`npx -y mcp-a2a-bridge install cursor`, or the link in `dist/client-packages/links.md`',
  },
  {
    page: 'docs/clients.md',
    clone: `Install the packages again after an update of the clone. Claude Code, with a marketplace in a directory, starts the program in that
directory; Codex does too, because it replaces no variable for a plugin's directory.
`,
    published: `Write and install the packages again for a newer version: each starts the version that it names.
`,
  },
];

const COMMANDS: readonly (readonly [string, string])[] = [
  ['node dist/bridge/main.js', 'npx -y mcp-a2a-bridge'],
  ['node dist/a2a-server/main.js', 'npx -y -p mcp-a2a-bridge a2a-server'],
];

/**
 * Returns the text of a page for readers of the published package. A page that has this form already does not change.
 * @throws Error if the page has neither form of a sentence
 */
export function publishedPage(page: string, text: string): string {
  const sentences = SENTENCES.filter((each) => each.page === page);
  const changed = sentences.reduce((sofar, { clone, published }) => {
    if (sofar.includes(clone)) return sofar.replace(clone, () => published);
    if (sofar.includes(published)) return sofar;
    throw new Error(
      `${page} does not have the text that scripts/published/published-page.ts expects: ${clone.slice(0, 80)}`,
    );
  }, text);
  return COMMANDS.reduce((sofar, [clone, published]) => sofar.replaceAll(clone, published), changed);
}

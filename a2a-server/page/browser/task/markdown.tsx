/**
 * Shows untrusted Markdown. X3: hostile text must not block or change the page. So the page draws elements of a fixed
 * list, and never inserts HTML.
 *
 * - `marked` only splits the text into tokens. Raw HTML is text.
 * - A link goes only to http and https. If the text of a link is not its address, the page shows the host.
 * - The page loads no image. An image is a link.
 */
import type { ComponentChildren } from 'preact';
import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { allowedLinkUrl } from './link-target.ts';
import { visibleLine, visibleText } from '../../../../shared/text/visible-text.ts';

/**
 * A text with more characters or more emphasis signs is shown as plain text. The time of the lexer is quadratic in the
 * number of these signs.
 */
const MAX_MARKDOWN_CHARS = 20_000;
const MAX_SIGNS = 2_000;
/** The maximum depth of nested blocks. Deeper blocks are shown as plain text. */
const MAX_DEPTH = 20;
/** Matches a line that begins with so many quote or list marks that the lexer could exceed its stack. */
const TOO_DEEP = /^[ \t]*(?:>[ \t]*|(?:[*+-]|\d{1,9}[.)])[ \t]+){50}/m;

export function Markdown({ text }: { text: string }) {
  const tokens = tokensOf(text);
  if (tokens === undefined) return <p class="plain">{visibleText(text)}</p>;
  return <div class="markdown">{renderBlocks(tokens, 0)}</div>;
}

function tokensOf(text: string): readonly Token[] | undefined {
  if (text.length > MAX_MARKDOWN_CHARS || (text.match(/[_*~]/g)?.length ?? 0) > MAX_SIGNS) return undefined;
  if (TOO_DEEP.test(text)) return undefined;
  try {
    return Lexer.lex(text, { gfm: true, breaks: true });
  } catch {
    // The lexer can also exceed the stack if the marks of many nested quotes and lists are on many lines.
    return undefined;
  }
}

function renderBlocks(tokens: readonly Token[], depth: number): ComponentChildren {
  return tokens.map((token) => renderToken(token, depth + 1, true));
}

function renderInlines(tokens: readonly Token[], depth: number): ComponentChildren {
  return tokens.map((token) => renderToken(token, depth + 1, false));
}

const KNOWN: ReadonlySet<string> = new Set([
  'blockquote',
  'br',
  'checkbox',
  'code',
  'codespan',
  'def',
  'del',
  'em',
  'escape',
  'heading',
  'hr',
  'html',
  'image',
  'link',
  'list',
  'paragraph',
  'space',
  'strong',
  'table',
  'text',
] satisfies MarkedToken['type'][]);

function isKnown(token: Token): token is MarkedToken {
  return KNOWN.has(token.type);
}

/** @param isBlock true if a text that is not drawn as Markdown is a paragraph of its own */
function renderToken(token: Token, depth: number, isBlock: boolean): ComponentChildren {
  const plain = (text: string): ComponentChildren =>
    isBlock ? <p class="plain">{visibleText(text)}</p> : visibleText(text);
  if (depth > MAX_DEPTH || !isKnown(token)) return plain(token.raw);
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'hr':
      return <hr />;
    case 'heading': {
      // Headings of the text are below the page's own headings.
      const level = Math.min(6, token.depth + 3);
      return (
        <div role="heading" aria-level={level} class={`heading level-${token.depth}`}>
          {renderInlines(token.tokens, depth)}
        </div>
      );
    }
    case 'code':
      return (
        <pre>
          <code>{visibleText(token.text)}</code>
        </pre>
      );
    case 'blockquote':
      return <blockquote>{renderBlocks(token.tokens, depth)}</blockquote>;
    case 'list': {
      const items = token.items.map((item) => <li>{renderBlocks(item.tokens, depth)}</li>);
      if (!token.ordered) return <ul>{items}</ul>;
      return <ol start={token.start === '' ? 1 : token.start}>{items}</ol>;
    }
    case 'table':
      return <Table {...token} depth={depth} />;
    case 'paragraph':
      return <p>{renderInlines(token.tokens, depth)}</p>;
    case 'html':
      return plain(token.text);
    case 'list_item':
      return renderBlocks(token.tokens, depth);
    // The following types are inline. In a tight list, `text` and `checkbox` tokens are also direct children of an
    // item.
    case 'text':
      return token.tokens === undefined ? visibleText(token.text) : renderInlines(token.tokens, depth);
    case 'escape':
      return visibleText(token.text);
    case 'strong':
      return <strong>{renderInlines(token.tokens, depth)}</strong>;
    case 'em':
      return <em>{renderInlines(token.tokens, depth)}</em>;
    case 'del':
      return <del>{renderInlines(token.tokens, depth)}</del>;
    case 'codespan':
      return <code>{visibleText(token.text)}</code>;
    case 'br':
      return <br />;
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ ';
    case 'link':
      return renderLink(token.href, token.text, renderInlines(token.tokens, depth));
    case 'image':
      return renderLink(token.href, token.text, `image: ${visibleLine(token.text)}`);
  }
}

function Table({ header, rows, depth }: Tokens.Table & { depth: number }) {
  return (
    <div class="wide">
      <table>
        <thead>
          <tr>
            {header.map((cell) => (
              <th>{renderInlines(cell.tokens, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>{renderInlines(cell.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function renderLink(href: string, text: string, children: ComponentChildren): ComponentChildren {
  const url = allowedLinkUrl(href);
  // The lexer turns an email address into a link. The text of this link is the address, so the page does not repeat it.
  if (url === undefined) return href === `mailto:${text}` ? children : [children, ` (${visibleLine(href)})`];
  return (
    <>
      <a href={url.href} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
      {text !== href && <span class="quiet"> ({visibleLine(url.host)})</span>}
    </>
  );
}

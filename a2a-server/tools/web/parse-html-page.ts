import { setImmediate as nextTurn } from 'node:timers/promises';
import { Parser } from 'htmlparser2';
import { WebPageMetadata, type WebLink, absoluteLinkUrl } from './page-metadata.ts';
import { WebPageText } from './html-text.ts';

export interface WebPage {
  title: string;
  text: string;
  links: WebLink[];
  canonical: URL | undefined;
  /** True if the text is longer than `maxCharacters`. */
  cut: boolean;
}

/** The number of characters that are parsed without a pause. Parsing them takes some milliseconds. */
const PIECE_CHARS = 32 * 1024;

/**
 * The maximum depth of nested elements. Real pages nest less deeply. The parsing time grows with the square of the
 * depth.
 */
const MAX_DEPTH = 1_000;

/**
 * Parses an HTML page in small pieces, so that the server can do other work in between.
 * @throws AbortError after an abort
 * @throws Error if the elements are nested too deeply
 */
export async function parseHtmlPage(
  html: string,
  url: URL,
  { maxCharacters, signal }: { maxCharacters: number; signal: AbortSignal },
): Promise<WebPage> {
  const marks = new WebPageMetadata(url);
  const text = new WebPageText(maxCharacters);
  let depth = 0;
  const parser = new Parser({
    onopentag: (name, attributes) => {
      depth += 1;
      if (depth > MAX_DEPTH) throw new Error(`The page nests its elements more than ${MAX_DEPTH} deep.`);
      marks.open(name, attributes);
      const { href } = attributes;
      text.open(name, attributes, href === undefined ? undefined : absoluteLinkUrl(href, marks.base)?.href);
    },
    ontext: (piece) => {
      marks.text(piece);
      text.text(piece);
    },
    onclosetag: (name) => {
      depth -= 1;
      marks.close(name);
      text.close();
    },
  });
  for (let at = 0; at < html.length && !text.full; at += PIECE_CHARS) {
    parser.write(html.slice(at, at + PIECE_CHARS));
    await nextTurn();
    signal.throwIfAborted();
  }
  parser.end();
  return { ...marks.found(), text: String(text), cut: text.full };
}

/** From an answer to text: decoded, and where it is HTML, made readable. */
import { beginning } from './beginning.ts';
import type { Body } from './body.ts';
import { decodeText, looksLikeText, withoutControls } from './charset.ts';
import type { Answer } from './get.ts';
import { readHtml, type HtmlPage } from './html-page.ts';
import { readingOf, type MediaType } from './media-type.ts';

export type Page = HtmlPage;

export interface PageOptions {
  signal: AbortSignal;
  /** HTML as it was sent, without title and links. */
  raw?: boolean;
  /** Of the text. */
  maxCharacters: number;
}

/**
 * The page an answer holds; undefined when its bytes are not text.
 * @throws AbortError; Error for HTML that is made to take forever.
 */
export async function pageOf(
  { url, media }: Answer,
  body: Body,
  { signal, raw = false, maxCharacters }: PageOptions,
): Promise<Page | undefined> {
  const markup = markupIn(media, body);
  if (markup === undefined) return undefined;
  const source = decodeText(body.bytes, { charset: media.charset, markup: markup !== 'none' });
  if (raw || markup !== 'html')
    return {
      title: '',
      text: beginning(source, maxCharacters),
      links: [],
      canonical: undefined,
      cut: body.cut || source.length > maxCharacters,
    };
  const page = await readHtml(source, url, { maxCharacters, signal });
  // Again, since a character reference may have made one.
  return {
    ...page,
    title: withoutControls(page.title),
    text: withoutControls(page.text),
    cut: page.cut || body.cut,
  };
}

/** What the text is written in; undefined when it is no text. */
function markupIn(media: MediaType, { bytes }: Body): 'html' | 'xml' | 'none' | undefined {
  switch (readingOf(media)) {
    case 'html':
      return 'html';
    case 'text':
      return media.type.endsWith('xml') ? 'xml' : 'none';
    case 'none':
      return undefined;
    case 'look':
      if (!looksLikeText(bytes)) return undefined;
      return /^\s*<(?:!doctype html|html)\b/iu.test(Buffer.from(bytes.subarray(0, 1024)).toString('latin1'))
        ? 'html'
        : 'none';
  }
}

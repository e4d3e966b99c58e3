/** Turns a response into text: decodes it, and extracts readable text from HTML. */
import { truncate } from '../../../shared/text/capped-text.ts';
import type { Body } from './body.ts';
import { decodeText, looksLikeText, withoutControls } from './charset.ts';
import type { WebResponse } from './get.ts';
import { readHtml, type HtmlPage } from './html-page.ts';
import { readingModeOf, type MediaType } from './media-type.ts';

export type Page = HtmlPage;

interface PageOptions {
  signal: AbortSignal;
  /** True to keep HTML unchanged. The page then has no title and no links. */
  raw?: boolean;
  /** The maximum length of the text. */
  maxCharacters: number;
}

/**
 * Returns the page of a response, or undefined if the body is not text.
 * @throws AbortError; Error for HTML that is nested too deep
 */
export async function pageOf(
  { url, media }: WebResponse,
  body: Body,
  { signal, raw = false, maxCharacters }: PageOptions,
): Promise<Page | undefined> {
  const markup = markupIn(media, body);
  if (markup === undefined) return undefined;
  const source = decodeText(body.bytes, { charset: media.charset, markup: markup !== 'none' });
  if (raw || markup !== 'html')
    return {
      title: '',
      text: truncate(source, maxCharacters),
      links: [],
      canonical: undefined,
      cut: body.cut || source.length > maxCharacters,
    };
  const page = await readHtml(source, url, { maxCharacters, signal });
  // Remove control characters again, because character references can add them.
  return {
    ...page,
    title: withoutControls(page.title),
    text: withoutControls(page.text),
    cut: page.cut || body.cut,
  };
}

/** Returns the markup of the text, or undefined if the body is not text. */
function markupIn(media: MediaType, { bytes }: Body): 'html' | 'xml' | 'none' | undefined {
  switch (readingModeOf(media)) {
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

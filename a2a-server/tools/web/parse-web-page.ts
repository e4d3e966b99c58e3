import { truncate } from '../../../shared/text/shortened-text.ts';
import type { LimitedBody } from './limited-body.ts';
import { decodeText, looksLikeText, replaceControlCharacters } from './decode-text.ts';
import type { WebResponse } from './fetch-url.ts';
import { parseHtmlPage, type WebPage } from './parse-html-page.ts';
import { bodyReadModeOf, type MediaType } from './media-type.ts';

interface PageOptions {
  signal: AbortSignal;
  /** True to keep HTML unchanged. The page then has no title and no links. */
  raw?: boolean;
  maxCharacters: number;
}

/**
 * Decodes a response and extracts the readable text from HTML. Returns undefined if the body is not text.
 * @throws AbortError after an abort
 * @throws Error if HTML elements are nested too deeply
 */
export async function parseWebPage(
  { url, media }: WebResponse,
  body: LimitedBody,
  { signal, raw = false, maxCharacters }: PageOptions,
): Promise<WebPage | undefined> {
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
  const page = await parseHtmlPage(source, url, { maxCharacters, signal });
  // Character references in HTML can produce control characters, so the texts are cleaned again.
  return {
    ...page,
    title: replaceControlCharacters(page.title),
    text: replaceControlCharacters(page.text),
    cut: page.cut || body.cut,
  };
}

function markupIn(media: MediaType, { bytes }: LimitedBody): 'html' | 'xml' | 'none' | undefined {
  switch (bodyReadModeOf(media)) {
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

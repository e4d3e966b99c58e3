/** From an answer to text: decoded, and where it is HTML, made readable. */
import { TimeExceeded, withinTime } from '../bounded-time.ts';
import type { Body } from './body.ts';
import { decodeText, looksLikeText, withoutControls } from './charset.ts';
import type { Answer } from './get.ts';
import { htmlText } from './html-text.ts';
import { readingOf, type MediaType } from './media-type.ts';
import { pageMarks, type PageLink } from './page-marks.ts';

export interface Page {
  title: string;
  text: string;
  links: PageLink[];
  canonical: URL | undefined;
  /** Whether there was more of it than is read. */
  cut: boolean;
}

/** For one page, in milliseconds: most take a few, and the server does nothing else meanwhile. */
const TIME_MS = 2_000;

/**
 * The page an answer holds; undefined when its bytes are not text.
 * @param options.raw gives HTML as it was sent, without title and links.
 * @throws Error for HTML that cannot be read in bounded time.
 */
export function pageOf({ url, media }: Answer, body: Body, { raw = false } = {}): Page | undefined {
  const markup = markupIn(media, body);
  if (markup === undefined) return undefined;
  const source = decodeText(body.bytes, { charset: media.charset, markup: markup !== 'none' });
  const plain = { title: '', text: source, links: [], canonical: undefined, cut: body.cut };
  if (raw || markup !== 'html') return plain;
  try {
    return withinTime(TIME_MS, () => {
      const { title, base, links, canonical } = pageMarks(source, url);
      // Again, since a character reference may have made one.
      const text = withoutControls(htmlText(source, base));
      return { title: withoutControls(title), text, links, canonical, cut: body.cut };
    });
  } catch (error) {
    if (!(error instanceof TimeExceeded)) throw error;
    throw new Error('The page is too intricate to be made readable.', { cause: error });
  }
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

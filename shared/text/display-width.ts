/** The width of text on a terminal, and the characters as a reader counts them. Pure. */
import stringWidth from 'string-width';

/**
 * Characters that are one column wide each, and never join others: ASCII, Latin letters, punctuation, arrows, and the
 * signs of this project. A text of only these characters needs no tables of emoji and of other scripts. To build the
 * tables takes half as long as Node's own start.
 */
const SIMPLE =
  /^[\x20-\x7e\u00a0-\u00ac\u00ae-\u024f\u2010-\u2027\u2190-\u21ff\u2212\u2502\u2713\u2717\u27e8\u27e9]*$/;

let segmenter: Intl.Segmenter | undefined;

/** Returns the number of columns that the text fills on a terminal. Colours fill none. */
export function displayWidth(text: string): number {
  return SIMPLE.test(text) ? text.length : stringWidth(text);
}

/** Splits a text into graphemes: an emoji of several code points, or a letter with its accents, is one of them. */
export function* graphemesOf(text: string): Generator<string> {
  if (SIMPLE.test(text)) {
    yield* text;
    return;
  }
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield segment;
}

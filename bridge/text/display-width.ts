/**
 * Computes the width of text on a terminal, and splits text into graphemes (characters as a reader sees them). Pure.
 */
import stringWidth from 'string-width';

/**
 * Characters that are one column wide each, and never join others: ASCII, Latin letters, punctuation, arrows, and the
 * signs of this project. A text of only these characters needs no tables of emoji and of other scripts. Building these
 * tables takes half as long as Node's own start.
 */
const SIMPLE =
  /^[\x20-\x7e\u00a0-\u00ac\u00ae-\u024f\u2010-\u2027\u2190-\u21ff\u2212\u2502\u2713\u2717\u27e8\u27e9]*$/;

let segmenter: Intl.Segmenter | undefined;

/**
 * The number of UTF-16 units that are split in one call. The time of `Intl.Segmenter` grows with the square of the
 * length (measured on Node 20).
 */
const WINDOW_UNITS = 256;

/** Matches the codes of colours, which fill no column. */
// eslint-disable-next-line no-control-regex -- colours begin with this character
const COLOURS = /\x1b\[[\d;]*m/g;

/** Returns the number of columns that the text fills on a terminal. Colours fill none. */
export function displayWidth(text: string): number {
  if (SIMPLE.test(text)) return text.length;
  if (text.length <= WINDOW_UNITS) return stringWidth(text);
  let width = 0;
  for (const graphemes of graphemeGroups(text.replaceAll(COLOURS, '')))
    width += stringWidth(graphemes.join(''));
  return width;
}

/** Splits a text into graphemes. An emoji of several code points, or a letter with its accents, is one grapheme. */
export function* graphemesOf(text: string): Generator<string> {
  if (SIMPLE.test(text)) yield* text;
  else for (const graphemes of graphemeGroups(text)) yield* graphemes;
}

function* graphemeGroups(text: string): Generator<string[]> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  let size = WINDOW_UNITS;
  for (let start = 0; start < text.length;) {
    const window = windowOf(text, start, size);
    const graphemes = Array.from(segmenter.segment(window), ({ segment }) => segment);
    let end = start + window.length;
    if (end < text.length) {
      // The last grapheme of a window may continue after the end of the window. So the next window begins with this
      // grapheme.
      end -= graphemes.pop()?.length ?? 0;
      size = graphemes.length === 0 ? size * 2 : WINDOW_UNITS;
    }
    yield graphemes;
    start = end;
  }
}

/** Returns a part of the text that does not end between the two halves of a character. */
function windowOf(text: string, start: number, size: number): string {
  const end = start + size;
  return text.slice(start, isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

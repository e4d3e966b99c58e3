/** Splits a line of text into rows of a limited width, in columns of a terminal. Pure. */
import stringWidth from 'string-width';

/** The prefix of a row that continues the previous row. Untrusted text never stands at the start of a row. */
const CONTINUATION_PREFIX = '↳ ';
/** The distance of the tab stops of a terminal, in columns. */
const TAB_STOP = 8;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * Splits a line into rows. Each row after the first starts with `CONTINUATION_PREFIX`.
 * @param columns the maximum width of a row
 */
export function* textRows(line: string, columns: number): Generator<string> {
  let row = '';
  let width = 0;
  for (const { segment } of graphemes.segment(line)) {
    if (width + columnsOf(segment, width) > columns && width > 0) {
      yield row;
      row = CONTINUATION_PREFIX;
      width = stringWidth(CONTINUATION_PREFIX);
    }
    row += segment;
    width += columnsOf(segment, width);
  }
  yield row.trimEnd();
}

function columnsOf(segment: string, at: number): number {
  return segment === '\t' ? TAB_STOP - (at % TAB_STOP) : stringWidth(segment);
}

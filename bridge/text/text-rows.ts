/** Splits a line of text into rows of a limited width, in columns of a terminal. Pure. */
import { displayWidth, graphemesOf } from './display-width.ts';

/** The prefix of a row that continues the previous row, so that untrusted text never stands at the start of a row. */
export const CONTINUATION_PREFIX = '↳ ';
/** The distance of the tab stops of a terminal, in columns. */
const TAB_STOP = 8;

/**
 * Splits a line into rows. Each row after the first starts with `CONTINUATION_PREFIX`.
 * @param columns the maximum width of a row
 */
export function* textRows(line: string, columns: number): Generator<string> {
  let row = '';
  let width = 0;
  for (const segment of graphemesOf(line)) {
    if (width + columnsOf(segment, width) > columns && width > 0) {
      yield row;
      row = CONTINUATION_PREFIX;
      width = displayWidth(CONTINUATION_PREFIX);
    }
    row += segment;
    width += columnsOf(segment, width);
  }
  yield row.trimEnd();
}

/**
 * Splits a line as `textRows` does, but between two words if possible. Drops the space at which it splits, so the rows
 * do not show the exact line. Use it only for the program's own text. Untrusted text needs `textRows`.
 */
export function* wordRows(line: string, columns: number): Generator<string> {
  let rest = line;
  for (;;) {
    const [row = '', more] = textRows(rest, columns);
    if (more === undefined) return yield row;
    const start = row.startsWith(CONTINUATION_PREFIX) ? CONTINUATION_PREFIX.length : 0;
    const isBetweenWords = rest.charAt(row.length) === ' ';
    const end = isBetweenWords ? row.length : row.lastIndexOf(' ');
    if (end <= start) {
      yield row;
      rest = CONTINUATION_PREFIX + rest.slice(row.length);
    } else {
      yield row.slice(0, end);
      rest = CONTINUATION_PREFIX + rest.slice(end + 1);
    }
  }
}

/** Returns the width of a character in the column `at`. A tab ends at the next tab stop. */
export function columnsOf(segment: string, at: number): number {
  return segment === '\t' ? TAB_STOP - (at % TAB_STOP) : displayWidth(segment);
}

/** Adds and folds the unchanged lines of a diff. Pure. */
import type { DiffRow } from './diff-rows.ts';

/** Unchanged lines that are folded. A click shows them. */
export interface DiffFold {
  type: 'fold';
  rows: readonly DiffRow[];
}

/** The unchanged lines that stay on each side of a fold. */
const CONTEXT_LINES = 3;
/**
 * The minimum number of unchanged lines that are folded. A fold needs a line itself, so folding a shorter run would
 * save little space.
 */
const MIN_FOLDED_LINES = 4;

/**
 * Replaces the header of each hunk by the unchanged lines that the diff leaves out before the hunk. Also adds the
 * unchanged lines after the last hunk.
 * @param after the new text of the whole file. If the diff does not fit this text, the rows stay as they are.
 */
export function withAllUnchangedLines(rows: readonly DiffRow[], after: string): readonly DiffRow[] {
  const lines = after.split('\n');
  // The line feed at the end of a file starts no line.
  if (lines.at(-1) === '') lines.pop();
  const whole: DiffRow[] = [];
  let next = 1;
  // The number of an unchanged line in the old file minus its number in the new file. Each added or removed line
  // changes this difference.
  let shift = 0;
  const addUntil = (end: number): void => {
    for (; next < end; next += 1)
      whole.push({ type: 'context', before: next + shift, after: next, text: ` ${lines[next - 1] ?? ''}` });
  };
  for (const row of rows) {
    if (row.type === 'hunk') {
      addUntil(next + row.skipped);
      continue;
    }
    whole.push(row);
    if (row.type === 'header') continue;
    if (row.after !== null) {
      if (row.after !== next || lines[next - 1] !== row.text.slice(1)) return rows;
      next += 1;
    }
    if (row.type === 'added') shift -= 1;
    if (row.type === 'removed') shift += 1;
  }
  addUntil(lines.length + 1);
  return whole;
}

/**
 * Names each unchanged line by its file, its number in the file before the change, and its text. While a person edits
 * the change, the file before the change stays as it is. So a line keeps its name, and an opened line stays open.
 */
export function unchangedLineKeys(rows: readonly DiffRow[]): Map<DiffRow, string> {
  const names = new Map<DiffRow, string>();
  let file = '';
  for (const row of rows) {
    if (row.type === 'header' && row.text.startsWith('--- ')) file = row.text;
    if (row.type === 'context') names.set(row, `${file}\n${row.before}${row.text}`);
  }
  return names;
}

/** Folds long runs of unchanged lines. @param isOpen true for a line that the person has opened */
export function withFoldedRows(
  rows: readonly DiffRow[],
  isOpen: (row: DiffRow) => boolean,
): (DiffRow | DiffFold)[] {
  const folded: (DiffRow | DiffFold)[] = [];
  for (let at = 0; at < rows.length;) {
    let end = at;
    while (rows[end]?.type === 'context') end += 1;
    // At the start and at the end of the file, unchanged lines have a change on only one side. The other side needs no
    // context.
    const from = isChange(rows[at - 1]) ? Math.min(at + CONTEXT_LINES, end) : at;
    const to = isChange(rows[end]) ? Math.max(end - CONTEXT_LINES, from) : end;
    folded.push(...rows.slice(at, from), ...foldClosed(rows.slice(from, to), isOpen), ...rows.slice(to, end));
    const row = rows[end];
    if (row !== undefined) folded.push(row);
    at = end + 1;
  }
  return folded;
}

/**
 * Folds each long run of lines that are not open. After an edit, opened lines can be beside lines that the person has
 * never opened.
 */
function foldClosed(rows: readonly DiffRow[], isOpen: (row: DiffRow) => boolean): (DiffRow | DiffFold)[] {
  const folded: (DiffRow | DiffFold)[] = [];
  for (let at = 0; at < rows.length;) {
    let end = at;
    for (let row = rows[end]; row !== undefined && !isOpen(row); row = rows[end]) end += 1;
    const closed = rows.slice(at, end);
    if (closed.length >= MIN_FOLDED_LINES) folded.push({ type: 'fold', rows: closed });
    else folded.push(...closed);
    const row = rows[end];
    if (row !== undefined) folded.push(row);
    at = end + 1;
  }
  return folded;
}

function isChange(row: DiffRow | undefined): boolean {
  return row?.type === 'added' || row?.type === 'removed';
}

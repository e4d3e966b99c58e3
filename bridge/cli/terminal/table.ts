/** Formats rows as a table that fits the terminal. Pure. */
import { displayWidth, graphemesOf } from '../../text/display-width.ts';

export interface TableColumn {
  title: string;
  /** Columns of numbers are aligned to the right. */
  align?: 'right';
}

type Cell = { text: string; paint?: (text: string) => string };

const COLUMN_SEPARATOR = '  ';
/** The indentation of each line of a row after the first line. */
const FOLD_INDENT = '  ';
/**
 * The minimum width of the last column. This column is cut to the rest of the terminal's width. If the rest is less
 * than this minimum, the last column gets a line of its own.
 */
const MIN_LAST_COLUMN_WIDTH = 20;

/**
 * Formats a table. If a row is wider than the terminal, it has several lines, and so has the row of titles.
 * @param width the width of the terminal; undefined for a pipe, which gets whole rows
 */
export function formatTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly Cell[])[],
  width: number | undefined,
): string {
  const all: readonly (readonly Cell[])[] = [columns.map(({ title }) => ({ text: title })), ...rows];
  const wanted = columns.map((_, at) => Math.max(...all.map((row) => displayWidth(row[at]?.text ?? ''))));
  const { lines, widths } = foldedColumns(wanted, width ?? Number.POSITIVE_INFINITY);
  return all
    .flatMap((row) =>
      lines.map((line, index) => {
        const cells = line.map((at, place) =>
          padCell(row[at] ?? { text: '' }, {
            width: widths[at] ?? 0,
            isLast: place === line.length - 1,
            align: columns[at]?.align,
          }),
        );
        return (index === 0 ? '' : FOLD_INDENT) + cells.join(COLUMN_SEPARATOR).trimEnd();
      }),
    )
    .join('\n');
}

interface FoldedColumns {
  /** The indexes of the columns, by line. */
  lines: readonly (readonly number[])[];
  widths: readonly number[];
}

/** Divides the columns into the lines of a row. The last column gets at most what remains in its line. */
function foldedColumns(wanted: readonly number[], width: number): FoldedColumns {
  const lines: number[][] = [[]];
  const widths: number[] = [];
  let used = 0;
  for (const [at, whole] of wanted.entries()) {
    const isLast = at === wanted.length - 1;
    const least = isLast ? Math.min(whole, MIN_LAST_COLUMN_WIDTH) : whole;
    const line = lines.at(-1) ?? [];
    const start = line.length === 0 ? used : used + COLUMN_SEPARATOR.length;
    const folds = line.length > 0 && start + least > width;
    const from = folds ? FOLD_INDENT.length : start;
    if (folds) lines.push([at]);
    else line.push(at);
    widths.push(isLast ? Math.min(whole, Math.max(1, width - from)) : whole);
    used = from + whole;
  }
  return { lines, widths };
}

function padCell(
  { text, paint }: Cell,
  { width, isLast, align }: { width: number; isLast: boolean; align: TableColumn['align'] },
): string {
  const shown = cutToWidth(text, width);
  const space = ' '.repeat(Math.max(0, width - displayWidth(shown)));
  const painted = paint === undefined ? shown : paint(shown);
  if (align === 'right') return space + painted;
  return isLast ? painted : painted + space;
}

/** Cuts a text to this width in columns. A cut text ends in `…`. */
export function cutToWidth(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let kept = '';
  for (const segment of graphemesOf(text)) {
    if (displayWidth(kept + segment) > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

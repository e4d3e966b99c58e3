/** Formats rows as a table that fits the terminal. Pure. */
import { displayWidth, graphemesOf } from '../../../shared/text/display-width.ts';

export interface TableColumn {
  title: string;
  /** Columns of numbers are aligned to the right. */
  align?: 'right';
}

type Cell = { text: string; paint?: (text: string) => string };

const COLUMN_SEPARATOR = '  ';
/** The start of the lines of a row after its first. */
const FOLD_INDENT = '  ';
/**
 * The last column is cut to the remaining width of the terminal. If fewer columns remain than this, it gets a line of its
 * own instead.
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
  const widths = columns.map((_, at) => Math.max(...all.map((row) => displayWidth(row[at]?.text ?? ''))));
  const lines = foldedColumns(widths, width ?? Number.POSITIVE_INFINITY);
  return all
    .flatMap((row) =>
      lines.map((line, index) => {
        const cells = line.map((at, place) =>
          padded(row[at] ?? { text: '' }, {
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

/**
 * Divides the columns into the lines of a row. Shortens the width of the last column to what remains in its line.
 * @returns the indexes of the columns, by line
 */
function foldedColumns(widths: number[], width: number): readonly (readonly number[])[] {
  const lines: number[][] = [[]];
  let used = 0;
  for (const [at, wanted] of widths.entries()) {
    const isLast = at === widths.length - 1;
    const least = isLast ? Math.min(wanted, MIN_LAST_COLUMN_WIDTH) : wanted;
    const line = lines.at(-1) ?? [];
    const start = line.length === 0 ? used : used + COLUMN_SEPARATOR.length;
    const folds = line.length > 0 && start + least > width;
    const from = folds ? FOLD_INDENT.length : start;
    if (folds) lines.push([at]);
    else line.push(at);
    if (isLast) widths[at] = Math.min(wanted, Math.max(1, width - from));
    used = from + wanted;
  }
  return lines;
}

function padded(
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

/** Formats rows as a table that fits the terminal. Pure. */
import { displayWidth, graphemesOf } from '../../../shared/text/display-width.ts';

export interface TableColumn {
  title: string;
  /** Columns of numbers are aligned to the right. */
  align?: 'right';
}

type Cell = { text: string; paint?: (text: string) => string };

const COLUMN_SEPARATOR = '  ';
/**
 * The minimum width of the last column. That column is cut to the remaining width of the terminal, but not below this
 * minimum.
 */
const MIN_LAST_COLUMN_WIDTH = 10;

export function formatTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly Cell[])[],
  width: number | undefined,
): string {
  const all: readonly (readonly Cell[])[] = [columns.map(({ title }) => ({ text: title })), ...rows];
  const widths = columns.map((_, at) => Math.max(...all.map((row) => displayWidth(row[at]?.text ?? ''))));
  const last = columns.length - 1;
  if (width !== undefined) {
    const before = widths.slice(0, last).reduce((sum, each) => sum + each + COLUMN_SEPARATOR.length, 0);
    widths[last] = Math.min(widths[last] ?? 0, Math.max(MIN_LAST_COLUMN_WIDTH, width - before));
  }
  return all
    .map((row) =>
      row
        .map((cell, at) =>
          padded(cell, { width: widths[at] ?? 0, isLast: at === last, align: columns[at]?.align }),
        )
        .join(COLUMN_SEPARATOR)
        .trimEnd(),
    )
    .join('\n');
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

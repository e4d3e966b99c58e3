/** Gives the lines of a diff their colours. Pure. */
import { visibleLines } from '../../../../shared/text/visible-text.ts';
import type { DiffRow } from './diff-rows.ts';
import type { HighlightedPiece } from './code-pieces.ts';

/**
 * Returns the visible text of each line in pieces, without the sign of the line. The unchanged lines are coloured once
 * together with the removed lines, and once together with the added lines. So a code comment of several lines keeps its
 * colour. Headers and joined blank lines have no pieces.
 */
export function colouredLines(
  rows: readonly DiffRow[],
  highlight: (text: string) => readonly (readonly HighlightedPiece[])[],
): Map<DiffRow, readonly HighlightedPiece[]> {
  const coloured = new Map<DiffRow, readonly HighlightedPiece[]>();
  for (const side of ['removed', 'added'] as const) {
    const lines = rows.filter(
      (row) => (row.type === side || row.type === 'context') && !row.text.includes('\n'),
    );
    // The `+`, `-` or space at the start of a line is not part of the code.
    const text = lines.map((row) => visibleLines(row.text.slice(1)).join('')).join('\n');
    const pieces = highlight(text);
    for (const [at, row] of lines.entries()) coloured.set(row, pieces[at] ?? []);
  }
  return coloured;
}

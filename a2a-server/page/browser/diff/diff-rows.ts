/** Reads a unified diff into rows with line numbers. Pure. */
import type { DiffFold } from './diff-context.ts';

export type DiffRow =
  | { type: 'context' | 'added' | 'removed'; before: number | null; after: number | null; text: string }
  /** A line outside of the hunks, such as a file name, or the mark for a missing line feed. */
  | { type: 'header'; text: string }
  /** The start of a hunk. `skipped`: the number of unchanged lines before the hunk that the diff leaves out. */
  | { type: 'hunk'; text: string; skipped: number };

interface ParsedDiff {
  rows: DiffRow[];
  added: number;
  removed: number;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
/**
 * The lines that `git diff`, `diff -u` and this server write outside of hunks. This server writes `# ` before remarks
 * about files that the diff does not show.
 */
const HEADER =
  /^(?:# |--- |\+\+\+ |\\ |diff |index |Index: |={3,}$|(?:new|deleted|old) (?:file )?mode |similarity index |rename (?:from|to) |$)/;
const KINDS = { ' ': 'context', '+': 'added', '-': 'removed' } as const;

/**
 * Parses a unified diff. The text of a row includes its sign (`+`, `-` or a space). The counts in a hunk's header
 * decide which lines belong to the hunk, because a removed line `-- a` looks like a file header.
 * @returns undefined if the text is not a complete unified diff. Agents send any text as a diff.
 */
export function parseDiff(diff: string): ParsedDiff | undefined {
  const rows: DiffRow[] = [];
  let [before, after, beforeEnd, afterEnd] = [1, 1, 1, 1];
  let [added, removed] = [0, 0];
  for (const text of diff.replace(/\n$/, '').split('\n')) {
    if (before === beforeEnd && after === afterEnd) {
      const hunk = HUNK.exec(text);
      if (hunk === null) {
        if (!HEADER.test(text)) return undefined;
        rows.push({ type: 'header', text });
        if (text.startsWith('--- ')) [before, after, beforeEnd, afterEnd] = [1, 1, 1, 1];
        continue;
      }
      const [, oldStart, oldLines = '1', newStart, newLines = '1'] = hunk;
      // The header of a hunk has the number of the first line on each side. For a side without lines, it has the number
      // of the line before the hunk, or 0. `firstLineNumber` then adds 1.
      const [oldFirst, newFirst] = [firstLineNumber(oldStart, oldLines), firstLineNumber(newStart, newLines)];
      rows.push({ type: 'hunk', text, skipped: Math.max(0, newFirst - after) });
      [before, after] = [oldFirst, newFirst];
      [beforeEnd, afterEnd] = [before + Number(oldLines), after + Number(newLines)];
      continue;
    }
    const sign = text.slice(0, 1);
    if (sign === '\\') {
      rows.push({ type: 'header', text });
      continue;
    }
    if (sign !== ' ' && sign !== '+' && sign !== '-') return undefined;
    rows.push({
      type: KINDS[sign],
      before: sign === '+' ? null : before,
      after: sign === '-' ? null : after,
      text,
    });
    if (sign === '+') added += 1;
    else before += 1;
    if (sign === '-') removed += 1;
    else after += 1;
    if (before > beforeEnd || after > afterEnd) return undefined;
  }
  const complete = before === beforeEnd && after === afterEnd;
  return complete && rows.some(({ type }) => type === 'hunk') ? { rows, added, removed } : undefined;
}

function firstLineNumber(start: string | undefined, lines: string): number {
  return Number(start) + (lines === '0' ? 1 : 0);
}

/** One line of the side-by-side view. A header and a fold fill both sides. */
type SideBySideRow = { left: DiffRow | null; right: DiffRow | null } | { across: DiffRow | DiffFold };

/** Puts each run of removed lines beside the run of added lines that follows. */
export function sideBySideRows(rows: readonly (DiffRow | DiffFold)[]): SideBySideRow[] {
  const lines: SideBySideRow[] = [];
  let removed: DiffRow[] = [];
  let added: DiffRow[] = [];
  const flush = (): void => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1)
      lines.push({ left: removed[at] ?? null, right: added[at] ?? null });
    removed = [];
    added = [];
  };
  for (const row of rows) {
    if (row.type === 'removed') {
      if (added.length > 0) flush();
      removed.push(row);
    } else if (row.type === 'added') added.push(row);
    else {
      flush();
      lines.push(row.type === 'context' ? { left: row, right: row } : { across: row });
    }
  }
  flush();
  return lines;
}

/** The minimum number of adjacent blank lines of one type that are joined to one row. */
const MIN_BLANK_LINES = 4;

/** Joins runs of blank lines, so that they cannot push other lines out of sight. The text keeps all their lines. */
export function withBlankRunsJoined(rows: readonly DiffRow[]): DiffRow[] {
  const joined: DiffRow[] = [];
  for (let at = 0; at < rows.length;) {
    const row = rows[at];
    if (row === undefined) break;
    let end = at + 1;
    while (isBlank(row) && rows[end]?.type === row.type && isBlank(rows[end])) end += 1;
    const run = rows.slice(at, end);
    if (run.length < MIN_BLANK_LINES) joined.push(...run);
    else joined.push({ ...row, text: run.map(({ text }) => text).join('\n') });
    at = end;
  }
  return joined;
}

function isBlank(row: DiffRow | undefined): boolean {
  return row !== undefined && 'before' in row && row.text.slice(1).trim() === '';
}

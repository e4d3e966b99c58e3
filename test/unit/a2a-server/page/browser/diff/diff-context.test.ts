import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  unchangedLineKeys,
  withFoldedRows,
  withAllUnchangedLines,
} from '../../../../../../a2a-server/page/browser/diff/diff-context.ts';
import {
  type DiffRow,
  parseDiff,
  sideBySideRows,
} from '../../../../../../a2a-server/page/browser/diff/diff-rows.ts';
import { unifiedFileDiff } from '../../../../../../shared/text/unified-diff.ts';

const lines = (count: number): string[] => Array.from({ length: count }, (_, at) => `line ${at + 1}`);
const rowsOf = (before: string | undefined, after: string): DiffRow[] =>
  parseDiff(unifiedFileDiff('f', before, after))?.rows ?? [];
const never = (): boolean => false;

const text = fc
  .array(fc.constantFrom('a', 'b', '', '-- a', '++ b', '@@ -1 +1 @@'), { maxLength: 60 })
  .chain((all) => fc.constantFrom('', '\n').map((end) => all.join('\n') + end));

describe('the unchanged lines of a diff', () => {
  test('are complete, with their numbers in both files', () => {
    fc.assert(
      fc.property(text, text, text, (head, middle, tail) => {
        const before = head + middle + tail;
        const after = `${head}new\n${tail}`;
        fc.pre(before !== after);
        const whole = withAllUnchangedLines(rowsOf(before, after), after);
        const [old, now] = (['before', 'after'] as const).map((side) =>
          whole.flatMap((row) =>
            'before' in row && row[side] !== null ? [[row[side], row.text.slice(1)]] : [],
          ),
        );
        expect(old).toEqual(numbered(before));
        expect(now).toEqual(numbered(after));
      }),
    );
  });

  test('stay as the diff has them, if the text does not fit the diff', () => {
    const rows = rowsOf('a\nb\nc', 'a\nx\nc');
    expect(withAllUnchangedLines(rows, 'a\ny\nc')).toBe(rows);
    expect(withAllUnchangedLines(rows, '')).toBe(rows);
  });

  test('fold to one row with all of them, beside three open lines at each change', () => {
    const after = lines(60).with(29, 'thirty');
    const folded = withFoldedRows(
      withAllUnchangedLines(rowsOf(lines(60).join('\n'), after.join('\n')), after.join('\n')),
      never,
    );
    const folds = folded.flatMap((row) => (row.type === 'fold' ? [row.rows.length] : []));
    expect(folds).toEqual([26, 27]);
    expect(folded.filter(({ type }) => type === 'context')).toHaveLength(6);
  });

  test('open run by run', () => {
    const after = lines(60).with(29, 'thirty').join('\n');
    const whole = withAllUnchangedLines(rowsOf(lines(60).join('\n'), after), after);
    const [first] = withFoldedRows(whole, never).filter((row) => row.type === 'fold');
    const opened = withFoldedRows(whole, (row) => first?.rows.includes(row) === true);
    expect(opened.filter(({ type }) => type === 'fold')).toHaveLength(1);
    expect(opened.flatMap((row) => (row.type === 'fold' ? row.rows : [row]))).toEqual(whole);
    expect(
      sideBySideRows(opened).filter((line) => 'across' in line && line.across.type === 'fold'),
    ).toHaveLength(1);
  });

  test('stay open after an edit that moves them, and an edit between them', () => {
    const edit = lines(60).with(29, 'thirty');
    const last = lines(60)
      .slice(33)
      .map((line) => ` ${line}`);
    expect(foldedInNextEdit(edit, edit.with(29, 'THIRTY'))).toEqual(last);
    expect(foldedInNextEdit(edit, ['new', 'lines', ...edit])).toEqual(last);
    expect(foldedInNextEdit(edit, edit.with(10, 'eleven'))).toEqual(last);
  });

  test('fold beside the opened lines after an edit that takes the change between them back', () => {
    const edit = lines(60).with(29, 'thirty');
    const folded = foldedInNextEdit(edit, lines(60).with(50, 'fifty-one'));
    expect(folded[0]).toBe(' line 27');
    expect(folded).toHaveLength(21 + 6);
  });

  test('have different names in different files', () => {
    const rows = parseDiff(
      unifiedFileDiff('a', 'one\ntwo\n', 'one\n') + unifiedFileDiff('b', 'one\ntwo\n', 'one\n'),
    );
    expect(new Set(unchangedLineKeys(rows?.rows ?? []).values()).size).toBe(2);
  });

  test('never hide a change', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after);
        const whole = withAllUnchangedLines(rowsOf(before, after), after);
        for (const row of withFoldedRows(whole, never))
          if (row.type === 'fold') for (const { type } of row.rows) expect(type).toBe('context');
        expect(
          withFoldedRows(whole, never).flatMap((row) => (row.type === 'fold' ? row.rows : [row])),
        ).toEqual(whole);
      }),
    );
  });
});

/** Returns the whole diff between 60 lines and an edit of them. */
function wholeOf(edit: readonly string[]): readonly DiffRow[] {
  const after = edit.join('\n');
  return withAllUnchangedLines(rowsOf(lines(60).join('\n'), after), after);
}

/** Opens the first fold of one edit. Returns the texts of the lines that are folded in the next edit. */
function foldedInNextEdit(edit: readonly string[], next: readonly string[]): string[] {
  const shown = wholeOf(edit);
  const names = unchangedLineKeys(shown);
  const [first] = withFoldedRows(shown, never).filter((row) => row.type === 'fold');
  const open = new Set(first?.rows.map((row) => names.get(row)));
  const nextRows = wholeOf(next);
  const nextNames = unchangedLineKeys(nextRows);
  return withFoldedRows(nextRows, (row) => open.has(nextNames.get(row))).flatMap((row) =>
    row.type === 'fold' ? row.rows.map(({ text: line }) => line) : [],
  );
}

function numbered(file: string): [number, string][] {
  const all = file.split('\n');
  if (all.at(-1) === '') all.pop();
  return all.map((line, at) => [at + 1, line]);
}

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  parseDiff,
  sideBySideRows,
  withBlankRunsJoined,
} from '../../../../../../a2a-server/page/browser/diff/diff-rows.ts';
import { unifiedFileDiff } from '../../../../../../shared/text/unified-diff.ts';

const text = fc
  .array(fc.constantFrom('a', 'b', '', '-- a', '++ b', '@@ -1 +1 @@', '\\ x', ' '), { maxLength: 30 })
  .map((lines) => lines.join('\n'));

describe('the rows of a unified diff', () => {
  it('contain every line of the diff, with the numbers that the lines have in the files', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after);
        const diff = unifiedFileDiff('f', before, after);
        const read = parseDiff(diff);
        if (read === undefined) throw new Error(`not read: ${diff}`);
        expect(read.rows.map((row) => row.text).join('\n')).toBe(diff.replace(/\n$/, ''));
        for (const row of read.rows) {
          if (!('before' in row)) continue;
          if (row.before !== null) expect(before.split('\n')[row.before - 1]).toBe(row.text.slice(1));
          if (row.after !== null) expect(after.split('\n')[row.after - 1]).toBe(row.text.slice(1));
        }
        expect(read.added).toBe(read.rows.filter(({ type }) => type === 'added').length);
        expect(read.removed).toBe(read.rows.filter(({ type }) => type === 'removed').length);
      }),
    );
  });

  it('contain the remarks about files that the diff does not show', () => {
    const diff = `# a (unchanged) stays as it is\n${unifiedFileDiff('b', 'old', 'new')}# c: no file → 3 bytes, not shown\n`;
    const rows = parseDiff(diff)?.rows ?? [];
    expect(rows.filter(({ text: line }) => line.startsWith('# '))).toMatchObject([
      { type: 'header' },
      { type: 'header' },
    ]);
    expect(parseDiff('# no file at all\n')).toBeUndefined();
  });

  it('say how many unchanged lines the diff leaves out', () => {
    const lines = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`);
    const changed = lines.with(9, 'ten').with(29, 'thirty');
    const hunks = parseDiff(unifiedFileDiff('f', lines.join('\n'), changed.join('\n')))?.rows.filter(
      ({ type }) => type === 'hunk',
    );
    expect(hunks).toMatchObject([{ skipped: 6 }, { skipped: 13 }]);
  });

  it.each([
    'no diff at all',
    '@@ -1,2 +1,2 @@\n-a\n+b',
    '@@ -1 +1 @@\n-a\n+b\n+hidden',
    '--- a\n+++ b\n@@ -1 +1 @@\nx',
    '',
  ])('do not exist for %p, which is no complete diff', (diff) => {
    expect(parseDiff(diff)).toBeUndefined();
  });

  it('stand side by side without loss or repeat', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after);
        const rows = parseDiff(unifiedFileDiff('f', before, after))?.rows ?? [];
        const beside = sideBySideRows(rows);
        const left = beside.flatMap((line) => ('across' in line ? [line.across] : (line.left ?? [])));
        const right = beside.flatMap((line) => ('across' in line ? [line.across] : (line.right ?? [])));
        expect(left).toEqual(rows.filter(({ type }) => type !== 'added'));
        expect(right).toEqual(rows.filter(({ type }) => type !== 'removed'));
      }),
    );
  });

  it('join long runs of blank lines to one row that still has all of them', () => {
    const after = `a${'\n'.repeat(1_000)}b`;
    const rows = parseDiff(unifiedFileDiff('f', 'a\nb', after))?.rows ?? [];
    const joined = withBlankRunsJoined(rows);
    expect(joined.length).toBeLessThan(10);
    expect(joined.map((row) => row.text).join('\n')).toBe(rows.map((row) => row.text).join('\n'));
  });
});

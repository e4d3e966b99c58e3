import { describe, expect, it } from '@jest/globals';
import { applyPatch, parsePatch, structuredPatch } from 'diff';
import fc from 'fast-check';
import { countDiffLines, unifiedFileDiff } from '../../../../shared/text/unified-diff.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';

const changedLines = (hunks: readonly { lines: readonly string[] }[]): number =>
  hunks.flatMap((hunk) => hunk.lines.filter((line) => /^[+-]/.test(line))).length;

const lines = (word: string) => Array.from({ length: 20_000 }, (_, n) => `${word} ${n}`).join('\n');

describe('countDiffLines, the counts of a unified diff', () => {
  it('counts added and removed lines, also those that look like the headers of a diff', () => {
    const diff = unifiedFileDiff('f', '-- a\nkept\n', 'kept\n++ b\nlast');
    expect(countDiffLines(diff)).toEqual({ added: 2, removed: 1 });
    expect(countDiffLines(unifiedFileDiff('f', 'same', 'same'))).toEqual({ added: 0, removed: 0 });
  });
});

describe('unifiedFileDiff, the diff of two texts', () => {
  it('the diff of a new file is against /dev/null', () => {
    expect(unifiedFileDiff('test.md', undefined, 'hello')).toBe(
      '--- /dev/null\n+++ b/test.md\n@@ -0,0 +1,1 @@\n+hello\n\\ No newline at end of file\n',
    );
  });

  it('the diff shows a change with the lines before and after it', () => {
    const before = 'one\ntwo\nthree\nfour\nfive\nsix\n';
    expect(unifiedFileDiff('dir/a b.txt', before, before.replace('five', '5'))).toBe(
      [
        '--- a/dir/a b.txt',
        '+++ b/dir/a b.txt',
        '@@ -2,5 +2,5 @@',
        ' two',
        ' three',
        ' four',
        '-five',
        '+5',
        ' six',
        '',
      ].join('\n'),
    );
  });

  it('the diff of a removed file is against /dev/null', () => {
    expect(unifiedFileDiff('a.md', 'hello\n', undefined)).toBe(
      '--- a/a.md\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-hello\n',
    );
  });

  it('the diff quotes a name that would break its header', () => {
    expect(unifiedFileDiff('a\n+++ b', undefined, 'x')).toContain('+++ "b/a\\n+++ b"\n');
    expect(unifiedFileDiff('say "\\o/"\u001b[2J', '', '')).toMatch(
      /^\+\+\+ "b\/say \\"\\\\o\/\\"\\033\[2J"$/m,
    );
  });

  it('the diff quotes a name that ends with a space', () => {
    expect(unifiedFileDiff('a.md ', '', 'x')).toContain('--- "a/a.md "\n+++ "b/a.md "\n');
  });

  it('the diff shows a name in any script, so that a person can read it', () => {
    expect(unifiedFileDiff('Über/Änderung 計画.md', 'x\n', 'y\n')).toMatch(
      /^--- a\/Über\/Änderung 計画\.md\n\+\+\+ b\/Über\/Änderung 計画\.md\n@@/,
    );
  });

  it('a parser reads each name from the header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (path) => {
        const [parsed] = parsePatch(unifiedFileDiff(path, 'x\n', 'y\n'));
        expect(parsed?.newFileName).toBe(`b/${path}`);
      }),
      { numRuns: numberOfRuns(500) },
    );
  });

  it('the diff applied to the first text gives the second text', () => {
    const line = fc.constantFrom(
      'a',
      'b',
      '',
      ' c',
      '+d',
      '-e',
      '\\ No newline at end of file',
      'f\r',
      '@@ -1 +1 @@',
    );
    const text = fc
      .tuple(fc.array(line, { maxLength: 12 }), fc.boolean())
      .map(([some, ended]) => some.join('\n') + (ended && some.length > 0 ? '\n' : ''));
    const around = fc.constantFrom('', '\n', 'a\nb\n', 'same\n'.repeat(9), 'one\ntwo\nthree\nfour\nfive\n');
    fc.assert(
      fc.property(around, text, text, around, (head, one, other, tail) => {
        const [before, after] = [head + one + tail, head + other + tail];
        const diff = unifiedFileDiff('file', before, after);
        expect(applyPatch(before, diff)).toBe(after);
        const changed = changedLines(structuredPatch('', '', before, after, '', '', { context: 3 }).hunks);
        expect(changedLines(parsePatch(diff)[0]?.hunks ?? [])).toBe(changed);
      }),
      { numRuns: numberOfRuns(2000) },
    );
  });

  it('a change in the middle of a long text has its place and three lines around it', () => {
    const before = lines('line');
    const [hunk, another] =
      parsePatch(unifiedFileDiff('file', before, before.replace('line 9999\n', 'x\n')))[0]?.hunks ?? [];
    expect(another).toBeUndefined();
    expect(hunk).toMatchObject({ oldStart: 9997, oldLines: 7, newStart: 9997, newLines: 7 });
  });

  it('X3 for two long, very different texts, unifiedFileDiff quickly shows a whole replacement', () => {
    const diff = unifiedFileDiff('file', lines('old'), `${lines('new')}\n`);
    expect(parsePatch(diff)[0]?.hunks).toHaveLength(1);
    expect(applyPatch(lines('old'), diff)).toBe(`${lines('new')}\n`);
    const cleared = unifiedFileDiff('file', lines('old'), '');
    expect(applyPatch(lines('old'), cleared)).toBe('');
    expect(applyPatch('', unifiedFileDiff('file', '', lines('new')))).toBe(lines('new'));
  });
});

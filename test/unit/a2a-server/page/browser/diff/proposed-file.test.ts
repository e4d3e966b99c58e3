import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { editedDiff, proposedFileOf } from '../../../../../../a2a-server/page/browser/diff/proposed-file.ts';
import { unifiedFileDiff } from '../../../../../../shared/text/unified-diff.ts';

const action = (content: string, diff: string): Parameters<typeof proposedFileOf>[0] => ({
  input: { path: 'a.md', content },
  preview: { type: 'diff', path: 'a.md', diff },
});
const text = fc
  .array(fc.constantFrom('a', 'b', '', '-- a', '\r', '\\ No newline at end of file'), { maxLength: 20 })
  .map((lines) => lines.join('\n'));

describe('the file of a proposed change', () => {
  test('has the old text that the diff and the new text imply', () => {
    fc.assert(
      fc.property(fc.option(text, { nil: undefined }), text, (before, after) => {
        fc.pre((before ?? '') !== after);
        const found = proposedFileOf(action(after, unifiedFileDiff('a.md', before, after)));
        if (found !== undefined) expect(found).toEqual({ path: 'a.md', before, after });
      }),
    );
    expect(proposedFileOf(action('a\nx\n', unifiedFileDiff('a.md', 'a\nb\n', 'a\nx\n')))?.before).toBe(
      'a\nb\n',
    );
    expect(proposedFileOf(action('x\n', unifiedFileDiff('a.md', undefined, 'x\n')))).toMatchObject({
      after: 'x\n',
    });
  });

  test.each([
    ['a text that the tool appends', unifiedFileDiff('a.md', 'one\n', 'one\ntwo\n')],
    ['a diff of other lines', unifiedFileDiff('a.md', 'x\n', 'y\n')],
    ['a text that is no diff', 'one line'],
    ['two diffs', `${unifiedFileDiff('a.md', '', 'two\n')}${unifiedFileDiff('b.md', '', 'two\n')}`],
  ])('does not exist for %s', (_case, diff) => {
    expect(proposedFileOf(action('two\n', diff))).toBeUndefined();
  });
});

describe('the effect of an edit', () => {
  const file = { path: 'a.md', before: 'one\n', after: 'two\n' };

  test('is the change of the file, if the page knows its old text', () => {
    expect(editedDiff(file, 'two\n', 'three\n')).toEqual({
      type: 'changed',
      path: 'a.md',
      diff: unifiedFileDiff('a.md', 'one\n', 'three\n'),
      after: 'three\n',
    });
    expect(editedDiff(file, 'two\n', 'one\n').type).toBe('same');
    expect(editedDiff(file, 'two\n', 'two\n').type).toBe('changed');
  });

  test('is otherwise the change of the input', () => {
    expect(editedDiff(undefined, 'ls', 'ls')).toEqual({
      type: 'same',
      text: 'You have not changed anything yet.',
    });
    expect(editedDiff(undefined, 'ls', 'ls -l')).toMatchObject({
      type: 'changed',
      diff: expect.stringContaining('+ls -l'),
    });
  });
});

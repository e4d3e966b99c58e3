import { describe, expect, it } from '@jest/globals';
import { acpDiffResult, acpReplacementsIn } from '../../../../../a2a-server/models/acp/file-changes.ts';
const NONE = acpReplacementsIn(undefined);
const diff = (oldText: string | null, newText: string) => ({ path: 'a', oldText, newText });

describe('changeOf, the change that an ACP agent proposes to a file', () => {
  it.each([
    ['a new file', undefined, null, {}],
    ['a new file with an empty old text', undefined, '', {}],
    ['the content on disk', 'one', 'one', {}],
    ['an empty file', '', '', {}],
    ['a file that is not new', 'one', null, { note: 'exists' }],
    ['a file that is gone', undefined, 'one', { note: 'missing' }],
    ['a part of the file', 'one two', 'two', { note: 'part' }],
    ['other content', 'one', 'two', { note: 'differs' }],
    ['an empty file that has content now', 'one', '', { note: 'differs' }],
  ] as const)('changeOf replaces the whole file if the agent sends %s', (_, before, oldText, note) => {
    expect(acpDiffResult(before, diff(oldText, 'new'), NONE)).toEqual({ after: 'new', ...note });
  });

  it('changeOf replaces only the text that the agent’s raw input contains', () => {
    const first = acpReplacementsIn({ edits: [{ old_string: 'b', new_string: '$&' }] });
    expect(acpDiffResult('a b b', diff('b', '$&'), first)).toEqual({ after: 'a $& b' });
    const all = acpReplacementsIn({ oldString: 'b', replaceAll: true });
    expect(acpDiffResult('a b b', diff('b', 'c'), all)).toEqual({ after: 'a c c' });
  });

  it('changeOf reports that the replaced text is not in the file', () => {
    expect(acpDiffResult('a\n', diff('b', 'c'), acpReplacementsIn({ old_str: 'b' }))).toEqual({
      after: 'a\nc',
      note: 'gone',
    });
  });
});

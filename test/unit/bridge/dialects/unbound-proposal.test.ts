import { describe, expect, test } from '@jest/globals';
import {
  isFileUnchanged,
  withCurrentDiff,
  type FileProposal,
} from '../../../../bridge/dialects/unbound-proposal.ts';
import { pendingWrite } from '../../../support/fake-agent-task.ts';

const file = (more: Partial<FileProposal> = {}): FileProposal => ({
  path: '/w/a.md',
  before: 'one\n',
  after: 'two\n',
  part: null,
  ...more,
});
const diffOf = (proposal: FileProposal, now: string): string => {
  const { preview } = withCurrentDiff(pendingWrite('c'), proposal, now).action;
  return preview.type === 'diff' ? preview.diff : '';
};

describe('the proposal of an agent that does not bind decisions to content', () => {
  test.each([
    ['one\n', 'one\n', true],
    ['one\r\n', 'one\n', true],
    ['one\n', '\uFEFFone\n', true],
    ['', '', true],
    ['one\n', 'one', false],
    ['one\n', '', false],
  ])('the shown content %j is current for the file content %j: %j', (before, now, current) => {
    expect(isFileUnchanged(file({ before }), now)).toBe(current);
  });

  test('the proposal is shown against the current content, as another question', () => {
    const before = pendingWrite('c');
    const once = withCurrentDiff(before, file(), 'mine\n');
    expect(once.action.shown).not.toBe(before.shown);
    expect(once.action).toMatchObject({ callId: 'c', reason: 'content-changed' });
    expect(diffOf(file(), 'mine\n')).toContain('-mine\n+two\n');
    expect(isFileUnchanged(once.file, 'mine\n')).toBe(true);
    const twice = withCurrentDiff(once.action, once.file, 'one\n');
    expect(twice.action.shown).not.toBe(before.shown);
  });

  test('a proposal for a part keeps the rest of the file; if the part is gone, the whole text is shown', () => {
    const part = { from: 'b', to: '$&' };
    expect(diffOf(file({ part }), 'a\nb\n')).toContain(' a\n-b\n+$&\n');
    expect(diffOf(file({ part }), 'a\n')).toContain('-a\n+two\n');
  });
});

import { expect, it } from '@jest/globals';
import { findConfirmedQuestion } from '../../../../../../a2a-server/page/browser/task/restore-files.ts';
import type { PendingAction } from '../../../../../../shared/client/index.ts';
import { pendingWrite } from '../../../../../support/fake-agent-task.ts';

const QUESTION = pendingWrite('c', {
  tool: 'restore-checkpoint',
  title: 'Restore checkpoint t.1',
  preview: { type: 'diff', path: 'a', diff: 'the diff' },
});
const found = (...pending: PendingAction[]): PendingAction | undefined =>
  findConfirmedQuestion({ pending }, 'the diff');

it('D2 the page approves only the one question that shows the confirmed diff', () => {
  expect(found(QUESTION)).toBe(QUESTION);
  expect(found()).toBeUndefined();
  expect(found(QUESTION, QUESTION)).toBeUndefined();
  expect(found({ ...QUESTION, reason: 'content-changed' })).toBeUndefined();
  expect(found({ ...QUESTION, reason: 'outcome-unknown' })).toBeUndefined();
  expect(found({ ...QUESTION, preview: { type: 'diff', path: 'a', diff: 'another' } })).toBeUndefined();
  expect(found({ ...QUESTION, preview: { type: 'text', text: 'the diff' } })).toBeUndefined();
});

it('the page approves no question that needs a passkey or another person', () => {
  expect(found({ ...QUESTION, decisions: ['deny'] })).toBeUndefined();
  expect(found({ ...QUESTION, presence: true })).toBeUndefined();
});

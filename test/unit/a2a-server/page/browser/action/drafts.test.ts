import { expect, test } from '@jest/globals';
import { dropDecidedDrafts, noDrafts } from '../../../../../../a2a-server/page/browser/action/drafts.ts';

test('the drafts of a call are dropped when it no longer waits, and those of other calls and the message stay', () => {
  const drafts = noDrafts();
  drafts.message = 'one more thing';
  for (const callId of ['decided', 'waits']) {
    drafts.reasons.set(callId, 'not this file');
    drafts.edits.set(callId, { view: 'text', text: 'x' });
    drafts.answers.set(callId, { chosen: ['blue'], text: '', values: {} });
  }
  dropDecidedDrafts(drafts, [{ callId: 'waits' }]);
  const { message, reasons, edits, answers } = drafts;
  expect([reasons, edits, answers].map((byCall) => [...byCall.keys()])).toEqual([
    ['waits'],
    ['waits'],
    ['waits'],
  ]);
  expect(message).toBe('one more thing');
});

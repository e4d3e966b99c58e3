import { expect, test } from '@jest/globals';
import {
  dropDraftsOfCall,
  createTaskDrafts,
  draftTextsOfCall,
} from '../../../../../../a2a-server/page/browser/action/drafts.ts';

test('the texts of a call are those that the person has written in its reason, edit and answer', () => {
  const drafts = createTaskDrafts();
  drafts.reasons.set('call', 'not this file');
  drafts.edits.set('call', { view: 'text', text: 'a better line' });
  drafts.answers.set('call', { chosen: ['blue'], text: ' ', values: { colour: 'dark blue', size: '' } });
  drafts.reasons.set('other', 'another reason');
  expect(draftTextsOfCall(drafts, 'call')).toEqual(['not this file', 'a better line', 'dark blue']);
});

test('the texts of an edit in a form are those of the changed fields', () => {
  const drafts = createTaskDrafts();
  const texts = new Map([['path', 'b.md']]);
  drafts.edits.set('call', { view: 'form', input: { path: 'a.md' }, fields: [], texts, checked: false });
  expect(draftTextsOfCall(drafts, 'call')).toEqual(['b.md']);
});

test('a decided call has no draft any more, and those of other calls and the message stay', () => {
  const drafts = createTaskDrafts();
  drafts.message = 'one more thing';
  for (const callId of ['decided', 'waits']) {
    drafts.reasons.set(callId, 'not this file');
    drafts.edits.set(callId, { view: 'text', text: 'x' });
    drafts.answers.set(callId, { chosen: ['blue'], text: '', values: {} });
  }
  dropDraftsOfCall(drafts, 'decided');
  const { message, reasons, edits, answers } = drafts;
  expect([reasons, edits, answers].map((byCall) => [...byCall.keys()])).toEqual([
    ['waits'],
    ['waits'],
    ['waits'],
  ]);
  expect(message).toBe('one more thing');
});

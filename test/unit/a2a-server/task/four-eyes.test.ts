import { expect, test } from '@jest/globals';
import { acceptMessage } from '../../../../a2a-server/task/accept-message.ts';
import type { ResolvedDecision } from '../../../../a2a-server/task/decide.ts';
import { foldNext } from '../../../../a2a-server/task/fold.ts';
import { fourEyesObjection } from '../../../../a2a-server/task/four-eyes.ts';
import { parkedTask, taskAfter, turnEventsWith } from '../../../support/folded-task.ts';
import { request } from '../../../support/task-machine.ts';

const asked = turnEventsWith([{ call: request('a', false), ask: true }]);
const task = parkedTask(taskAfter(...asked));
const about = (decision: ResolvedDecision['decision']): ResolvedDecision => ({
  callId: 'a',
  decision,
  scope: 'once',
  reason: null,
  shown: null,
  edited: null,
});
const objection = (principal: string, decision: ResolvedDecision['decision'], to = task) =>
  fourEyesObjection(to, [about(decision)], { principal, channel: 'form' });

test('X1 the principal who began the task cannot approve or edit', () => {
  for (const word of ['approve', 'edit'] as const)
    expect(objection(task.principal, word)).toMatchObject({ reason: 'OTHER_APPROVER_REQUIRED' });
});

test('a denial and an answer need no other person', () => {
  for (const word of ['deny', 'answer'] as const) expect(objection(task.principal, word)).toBeUndefined();
});

test('X1 another sender of the task cannot approve, and a third person can', () => {
  const message = { messageId: 'm-2', parts: [{ type: 'text' as const, text: 'and then?' }] };
  const origin = { principal: 'acme/bob', channel: 'a2a', wordsDecide: false };
  const running = taskAfter(asked[0] ?? { type: 'task.working' });
  const accepted = acceptMessage(running, message, origin);
  if (accepted.type !== 'append') throw new Error('the message was refused');
  expect(accepted.events[0]).toMatchObject({ type: 'message.received', by: 'acme/bob' });
  const sent = { ...task, otherSenders: foldNext(running, accepted.events).otherSenders ?? [] };
  expect(objection('acme/bob', 'approve', sent)).toMatchObject({ reason: 'OTHER_APPROVER_REQUIRED' });
  expect(objection('acme/cleo', 'approve', sent)).toBeUndefined();
});

test('the own messages of the principal name no other sender', () => {
  const message = { messageId: 'm-2', parts: [{ type: 'text' as const, text: 'and then?' }] };
  const running = taskAfter(asked[0] ?? { type: 'task.working' });
  const accepted = acceptMessage(running, message, {
    principal: running.principal,
    channel: 'a2a',
    wordsDecide: false,
  });
  expect(accepted).toMatchObject({ type: 'append' });
  expect(JSON.stringify(accepted)).not.toContain('"by"');
});

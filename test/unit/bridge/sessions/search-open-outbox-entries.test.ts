import { expect, test } from '@jest/globals';
import { isCancelRevoked } from '../../../../bridge/sessions/search-open-outbox-entries.ts';
import type { OutboxEntry } from '../../../../bridge/state/outbox-entry.ts';
import { outboxEntry } from '../../../support/outbox-entry.ts';

const accepted = (taskId: string) => ({ type: 'accepted', taskId, sessionId: 'session' }) as const;

function entry(messageId: string, more: Partial<OutboxEntry> = {}): OutboxEntry {
  return outboxEntry(messageId, { agent: 'one', sessionId: 'session', ...more });
}

const CANCELLED = entry('cancelled', { state: accepted('task'), cancel: 'enough' });

test.each<[string, OutboxEntry[], boolean]>([
  ['no message follows', [CANCELLED], false],
  ['a message to the task follows', [CANCELLED, entry('later', { taskId: 'task' })], true],
  ['the agent gave the message to the task', [CANCELLED, entry('later', { state: accepted('task') })], true],
  ['the message came before', [entry('earlier', { taskId: 'task' }), CANCELLED], false],
  ['the message began another task', [CANCELLED, entry('later', { state: accepted('next') })], false],
  ['the message has no task yet', [CANCELLED, entry('later')], false],
  ['the message is cancelled too', [CANCELLED, entry('later', { taskId: 'task', cancel: 'enough' })], false],
  [
    'another agent has a task of this id',
    [CANCELLED, entry('later', { agent: 'two', taskId: 'task' })],
    false,
  ],
  ['the client has the result already', [], true],
])('a recorded cancel stays or is withdrawn by the rule, if %s', (_, open, takenBack) => {
  expect(isCancelRevoked(open, 'cancelled', 'task')).toBe(takenBack);
});

import { expect, test } from '@jest/globals';
import { requireFailingReceiver, failingReceiversOf } from '../../../../a2a-server/push/failing-receivers.ts';
import type { NamedSubscription } from '../../../../a2a-server/push/stored-subscriptions.ts';
import type { PushDeliveryState } from '../../../../a2a-server/push/push-subscription.ts';
import { pushSubscription } from '../../../support/push-subscription.ts';

function subscription(name: string, delivery: PushDeliveryState): NamedSubscription {
  const read = pushSubscription({
    taskId: `task-of-${name}`,
    principal: 'acme/ann',
    owner: 'acme/bob',
    url: 'https://hooks.example.com:8443/secret?key=secret',
    token: 'secret',
    authentication: { scheme: 'Bearer', credentials: 'secret' },
    cursor: 3,
    delivery,
  });
  // A name begins with a hash of the task.
  return ['0'.repeat(32) + name, read];
}

const ALL = [
  subscription('aa1', { type: 'active' }),
  subscription('ab2', { type: 'retrying', attempts: 2, since: 60_000, at: 64_000, problem: 'HTTP 500' }),
  subscription('ac3', { type: 'dead', since: 0, at: 86_400_000, problem: 'it answered with HTTP 410' }),
  // Earlier versions did not store the first failure.
  subscription('bd4', { type: 'dead', at: 86_400_000, problem: 'HTTP 500' }),
];

test('an operator sees who fails, since when and why, and no secret', () => {
  const known = { receiver: 'hooks.example.com:8443', principal: 'acme/ann' };
  const failing = failingReceiversOf(ALL);
  expect(failing).toEqual([
    {
      ...known,
      id: 'ac3',
      state: 'dead',
      taskId: 'task-of-ac3',
      since: '1970-01-01T00:00:00.000Z',
      problem: 'it answered with HTTP 410',
      nextAttempt: null,
    },
    {
      ...known,
      id: 'ab2',
      state: 'retrying',
      taskId: 'task-of-ab2',
      since: '1970-01-01T00:01:00.000Z',
      problem: 'HTTP 500',
      nextAttempt: '1970-01-01T00:01:04.000Z',
    },
    {
      ...known,
      id: 'bd4',
      state: 'dead',
      taskId: 'task-of-bd4',
      since: '1970-01-02T00:00:00.000Z',
      problem: 'HTTP 500',
      nextAttempt: null,
    },
  ]);
  expect(JSON.stringify(failing)).not.toContain('secret');
});

test('the beginning of an id names a failing receiver, if no other one has it', () => {
  expect(requireFailingReceiver(ALL, 'b').receiver.taskId).toBe('task-of-bd4');
  expect(requireFailingReceiver(ALL, 'ab2').receiver.taskId).toBe('task-of-ab2');
  expect(() => requireFailingReceiver(ALL, 'a')).toThrow('2 failing receivers have the id "a"');
  for (const id of ['aa1', 'x', ''])
    expect(() => requireFailingReceiver(ALL, id)).toThrow('No failing receiver has');
});

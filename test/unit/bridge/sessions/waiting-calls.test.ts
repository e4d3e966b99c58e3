import { expect, test } from '@jest/globals';
import { WaitingMcpCalls } from '../../../../bridge/sessions/waiting-calls.ts';
import { createLogger } from '../../../../shared/runtime/logging.ts';

function waitingCalls() {
  const answered: string[] = [];
  const log = createLogger({ name: 'test', level: 'silent' });
  const outbox = {
    inOneCommit: (change: () => void) => Promise.resolve(change()),
    update: (messageId: string) => void answered.push(messageId),
  };
  return { calls: new WaitingMcpCalls({ outbox, log }), answered };
}

test('R99 a call waits from its message until its client has confirmed the answer', async () => {
  const { calls, answered } = waitingCalls();
  calls.begin('one');
  expect(calls.isWaiting('one')).toBe(true);
  const received = calls.recordWaitingCall('one', new AbortController().signal);
  received();
  await new Promise((resolve) => setImmediate(resolve));
  expect(answered).toEqual(['one']);
  expect(calls.isWaiting('one')).toBe(false);
});

test('R99 after a command has shown the reply, no call waits for the message', async () => {
  const { calls, answered } = waitingCalls();
  calls.begin('one');
  calls.recordReplyReceived('one');
  await new Promise((resolve) => setImmediate(resolve));
  expect(answered).toEqual(['one']);
  expect(calls.isWaiting('one')).toBe(false);
});

test('R99 a withdrawn call no longer waits, and its confirmation has no effect', () => {
  const { calls, answered } = waitingCalls();
  const call = new AbortController();
  const received = calls.recordWaitingCall('one', call.signal);
  call.abort();
  expect(calls.isWaiting('one')).toBe(false);
  received();
  expect(answered).toEqual([]);
});

test('R99 a call that joins a message replaces the earlier call', () => {
  const { calls, answered } = waitingCalls();
  const [first, second] = [new AbortController(), new AbortController()];
  const received = calls.recordWaitingCall('one', first.signal);
  calls.recordWaitingCall('one', second.signal);
  received();
  first.abort();
  calls.end('one', first.signal);
  expect(answered).toEqual([]);
  expect(calls.isWaiting('one')).toBe(true);
});

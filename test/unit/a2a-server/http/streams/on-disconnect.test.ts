import { describe, expect, it } from '@jest/globals';
import {
  CancellingDisconnectHandler,
  RECONNECT_GRACE_MS,
} from '../../../../../a2a-server/http/streams/on-disconnect.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const MESSAGE = { principal: 'ada', seq: 2 };

function setUp() {
  const clock = new FakeClock();
  const cancelled: string[] = [];
  const settle: (() => void)[] = [];
  const disconnects = new CancellingDisconnectHandler({
    clock,
    settled: (_taskId, _message, signal) =>
      new Promise((resolve) => {
        settle.push(resolve);
        signal.addEventListener('abort', () => resolve());
      }),
    cancel: (taskId, { principal }) => void cancelled.push(`${taskId} of ${principal}`),
  });
  const settles = async (): Promise<void> => {
    settle.at(-1)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, cancelled, disconnects, settles };
}

describe('the server with --on-disconnect cancel', () => {
  it('the server cancels a task 10 s after its last reader has disconnected', () => {
    const { clock, cancelled, disconnects } = setUp();
    disconnects.reads('t', MESSAGE)('left');
    clock.advance(RECONNECT_GRACE_MS - 1);
    expect(cancelled).toEqual([]);
    clock.advance(1);
    expect(cancelled).toEqual(['t of ada']);
  });

  it('the server waits until every reader has disconnected, and restarts the time after each reader that reconnects', () => {
    const { clock, cancelled, disconnects } = setUp();
    const watcher = disconnects.reads('t');
    disconnects.reads('t', MESSAGE)('left');
    clock.advance(RECONNECT_GRACE_MS);
    watcher('left');
    clock.advance(RECONNECT_GRACE_MS - 1);
    const again = disconnects.reads('t');
    clock.advance(RECONNECT_GRACE_MS);
    expect(cancelled).toEqual([]);
    // The rule also applies to a stream that ends after minutes.
    again('left');
    clock.advance(RECONNECT_GRACE_MS);
    expect(cancelled).toEqual(['t of ada']);
  });

  it('the server keeps a task that waits for the person when its client reconnects', async () => {
    const { clock, cancelled, disconnects, settles } = setUp();
    disconnects.reads('t', MESSAGE)('left');
    const again = disconnects.reads('t');
    await settles();
    again('left');
    clock.advance(RECONNECT_GRACE_MS);
    expect(cancelled).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('the server keeps a task that waits or ends while no client reads it', async () => {
    const { clock, cancelled, disconnects, settles } = setUp();
    disconnects.reads('t', MESSAGE)('left');
    await settles();
    clock.advance(RECONNECT_GRACE_MS);
    expect(cancelled).toEqual([]);
  });

  it('after a message to a task that has waited, the server applies the rule to the task again', async () => {
    const { clock, cancelled, disconnects, settles } = setUp();
    disconnects.reads('t', MESSAGE)('over');
    await settles();
    disconnects.reads('t', MESSAGE)('left');
    clock.advance(RECONNECT_GRACE_MS);
    expect(cancelled).toEqual(['t of ada']);
  });

  it('the server keeps a task whose client only subscribed and sent no message', () => {
    const { clock, cancelled, disconnects } = setUp();
    disconnects.reads('t')('left');
    clock.advance(RECONNECT_GRACE_MS);
    expect(cancelled).toEqual([]);
  });

  it('the server keeps a task if it ended the last reader itself, or if a later message asked for no stream', () => {
    const { clock, cancelled, disconnects } = setUp();
    disconnects.reads('ended', MESSAGE)('over');
    const reader = disconnects.reads('sent', MESSAGE);
    disconnects.detach('sent');
    reader('left');
    disconnects.reads('left', MESSAGE)('left');
    disconnects.detach('left');
    clock.advance(RECONNECT_GRACE_MS);
    expect(cancelled).toEqual([]);
  });

  it('after its stop the server cancels nothing: no timer fires, and later readers start no timer', () => {
    const { clock, cancelled, disconnects } = setUp();
    const open = disconnects.reads('open', MESSAGE);
    disconnects.reads('left', MESSAGE)('left');
    disconnects.stop();
    open('left');
    disconnects.reads('late', MESSAGE)('left');
    expect(clock.pending).toBe(0);
    clock.advance(RECONNECT_GRACE_MS);
    expect(cancelled).toEqual([]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { CancellingDisconnects, RECONNECT_MS } from '../../../../../a2a-server/http/streams/disconnects.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const MESSAGE = { principal: 'ada', seq: 2 };

function setUp() {
  const clock = new FakeClock();
  const cancelled: string[] = [];
  const settle: (() => void)[] = [];
  const disconnects = new CancellingDisconnects({
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

describe('--on-disconnect cancel', () => {
  it('cancels a task 10 s after its last reader has left', () => {
    const { clock, cancelled, disconnects } = setUp();
    disconnects.reads('t', MESSAGE)('left');
    clock.advance(RECONNECT_MS - 1);
    expect(cancelled).toEqual([]);
    clock.advance(1);
    expect(cancelled).toEqual(['t of ada']);
  });

  it('waits until every reader has left, and starts the time again after each reader that returns', () => {
    const { clock, cancelled, disconnects } = setUp();
    const watcher = disconnects.reads('t');
    disconnects.reads('t', MESSAGE)('left');
    clock.advance(RECONNECT_MS);
    watcher('left');
    clock.advance(RECONNECT_MS - 1);
    const again = disconnects.reads('t');
    clock.advance(RECONNECT_MS);
    expect(cancelled).toEqual([]);
    // The lifetime of a stream ends after minutes. The rule still applies.
    again('left');
    clock.advance(RECONNECT_MS);
    expect(cancelled).toEqual(['t of ada']);
  });

  it('keeps a task that waits when its client returns', async () => {
    const { clock, cancelled, disconnects, settles } = setUp();
    disconnects.reads('t', MESSAGE)('left');
    const again = disconnects.reads('t');
    await settles();
    again('left');
    clock.advance(RECONNECT_MS);
    expect(cancelled).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it('keeps a task that waits or ends while no client reads it', async () => {
    const { clock, cancelled, disconnects, settles } = setUp();
    disconnects.reads('t', MESSAGE)('left');
    await settles();
    clock.advance(RECONNECT_MS);
    expect(cancelled).toEqual([]);
  });

  it('applies again after a message to a task that has waited', async () => {
    const { clock, cancelled, disconnects, settles } = setUp();
    disconnects.reads('t', MESSAGE)('over');
    await settles();
    disconnects.reads('t', MESSAGE)('left');
    clock.advance(RECONNECT_MS);
    expect(cancelled).toEqual(['t of ada']);
  });

  it('keeps a task that a client only watches', () => {
    const { clock, cancelled, disconnects } = setUp();
    disconnects.reads('t')('left');
    clock.advance(RECONNECT_MS);
    expect(cancelled).toEqual([]);
  });

  it('keeps a task whose last reader was ended by the server, and a task with a later message without a reader', () => {
    const { clock, cancelled, disconnects } = setUp();
    disconnects.reads('ended', MESSAGE)('over');
    const reader = disconnects.reads('sent', MESSAGE);
    disconnects.detach('sent');
    reader('left');
    disconnects.reads('left', MESSAGE)('left');
    disconnects.detach('left');
    clock.advance(RECONNECT_MS);
    expect(cancelled).toEqual([]);
  });

  it('cancels nothing after its stop: no timer fires, and later readers start no timer', () => {
    const { clock, cancelled, disconnects } = setUp();
    const open = disconnects.reads('open', MESSAGE);
    disconnects.reads('left', MESSAGE)('left');
    disconnects.stop();
    open('left');
    disconnects.reads('late', MESSAGE)('left');
    expect(clock.pending).toBe(0);
    clock.advance(RECONNECT_MS);
    expect(cancelled).toEqual([]);
  });
});

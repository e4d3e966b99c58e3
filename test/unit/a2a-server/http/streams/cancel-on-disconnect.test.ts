import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createCancellingDisconnectHandler } from '../../../../../a2a-server/http/streams/cancel-on-disconnect.ts';
import { RECONNECT_GRACE_MS } from '../../../../../a2a-server/http/streams/on-disconnect.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

/**
 * Disconnects the client of a task.
 * @returns the cancel requests, and the log
 */
async function afterLeaving(failure?: Error) {
  const clock = new FakeClock();
  const cancels: unknown[] = [];
  const lines: string[] = [];
  const disconnects = createCancellingDisconnectHandler({
    tasks: {
      cancelWork: (...cancel) => {
        cancels.push(cancel);
        return failure === undefined ? Promise.resolve() : Promise.reject(failure);
      },
      async *follow(_taskId, _after, { signal }) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        yield [];
      },
    },
    clock,
    log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
  });
  disconnects.reads('t', { principal: 'ada', seq: 2 })('left');
  clock.advance(RECONNECT_GRACE_MS);
  await new Promise((resolve) => setImmediate(resolve));
  return { cancels, log: lines.join('') };
}

describe('the cancel of a task whose readers have disconnected', () => {
  it('the cancel has the principal, the channel and the reason', async () => {
    const { cancels, log } = await afterLeaving();
    const by = { principal: 'ada', channel: 'disconnect' };
    const left = { messageSeq: 2, reason: 'its client disconnected and did not come back' };
    expect(cancels).toEqual([['t', by, left]]);
    expect(log).toBe('');
  });

  it('a failure of the cancel is in the log', async () => {
    const { log } = await afterLeaving(new Error('the disk is full'));
    expect(log).toContain('the disk is full');
  });
});

import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { cancellingDisconnects } from '../../../../../a2a-server/http/streams/cancel-left-task.ts';
import { RECONNECT_MS } from '../../../../../a2a-server/http/streams/disconnects.ts';
import type { TaskRow } from '../../../../../a2a-server/journal/journal.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

/** Lets a client leave a task in this state. @returns the cancels, and the log */
async function afterLeaving(state: TaskRow['state'], failure?: Error) {
  const clock = new FakeClock();
  const cancels: unknown[] = [];
  const lines: string[] = [];
  const row: TaskRow = {
    taskId: 't',
    sessionId: 's',
    principal: 'ada',
    state,
    seq: 2,
    title: '',
    createdAt: 0,
    updatedAt: 0,
    deadline: null,
  };
  const disconnects = cancellingDisconnects({
    tasks: {
      row: () => Promise.resolve(row),
      cancel: (...cancel) => {
        cancels.push(cancel);
        return Promise.reject(failure ?? new ProductError('TASK_ENDED', 'It has ended.'));
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
  clock.advance(RECONNECT_MS);
  await new Promise((resolve) => setImmediate(resolve));
  return { cancels, log: lines.join('') };
}

describe('the cancel of a task whose readers have left', () => {
  it('says who, how and why, and is silent if the task has ended meanwhile', async () => {
    const { cancels, log } = await afterLeaving('working');
    const by = { principal: 'ada', channel: 'disconnect' };
    expect(cancels).toEqual([['t', by, 'its client disconnected and did not come back']]);
    expect(log).toBe('');
  });

  it.each(['input-required', 'completed'] as const)('spares a task that is %s', async (state) => {
    expect((await afterLeaving(state)).cancels).toEqual([]);
  });

  it('logs any other failure', async () => {
    const { log } = await afterLeaving('working', new Error('the disk is full'));
    expect(log).toContain('the disk is full');
  });
});

import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { cancellingDisconnects, RECONNECT_MS } from '../../../../../a2a-server/http/streams/disconnects.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const MESSAGE = { principal: 'ada', by: 'message' } as const;
const SUBSCRIPTION = { principal: 'ada', by: 'subscription' } as const;

function setUp(failure?: Error) {
  const clock = new FakeClock();
  const canceled: unknown[] = [];
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const cancel = (taskId: string, by: object, reason: string) => {
    canceled.push([taskId, by, reason]);
    return Promise.reject(failure ?? new ProductError('TASK_ENDED', 'It has ended.'));
  };
  return { clock, canceled, lines, disconnects: cancellingDisconnects({ tasks: { cancel }, clock, log }) };
}

describe('--on-disconnect cancel', () => {
  it('cancels a task whose client dropped its message stream and did not come back, and logs it', () => {
    const { clock, canceled, disconnects } = setUp();
    disconnects.reads('t', MESSAGE)('cut');
    clock.advance(RECONNECT_MS - 1);
    expect(canceled).toEqual([]);
    clock.advance(1);
    const by = { principal: 'ada', channel: 'disconnect' };
    expect(canceled).toEqual([['t', by, 'its client disconnected and did not come back']]);
  });

  it('keeps a task whose client comes back, and cancels it if that connection drops too', () => {
    const { clock, canceled, disconnects } = setUp();
    disconnects.reads('t', MESSAGE)('cut');
    clock.advance(RECONNECT_MS - 1);
    const again = disconnects.reads('t', SUBSCRIPTION);
    clock.advance(RECONNECT_MS);
    expect(canceled).toEqual([]);
    again('cut');
    clock.advance(RECONNECT_MS);
    expect(canceled).toHaveLength(1);
  });

  it.each([
    ['a stream that the server ended', MESSAGE, 'read'],
    ['a client that only watched', SUBSCRIPTION, 'cut'],
  ] as const)('cancels nothing after %s', (_, how, end) => {
    const { clock, canceled, disconnects } = setUp();
    disconnects.reads('t', how)(end);
    clock.advance(RECONNECT_MS);
    expect(canceled).toEqual([]);
  });

  it('cancels nothing while another client reads the task, and nothing after the server stops', () => {
    const { clock, canceled, disconnects } = setUp();
    disconnects.reads('t', SUBSCRIPTION);
    disconnects.reads('t', MESSAGE)('cut');
    disconnects.reads('other', MESSAGE)('cut');
    disconnects.stop();
    clock.advance(RECONNECT_MS);
    expect(canceled).toEqual([]);
  });

  it('logs a cancel that fails for another reason than the end of the task', async () => {
    const { clock, lines, disconnects } = setUp(new Error('the disk is full'));
    disconnects.reads('t', MESSAGE)('cut');
    clock.advance(RECONNECT_MS);
    await Promise.resolve().then(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    expect(lines.join('')).toContain('the disk is full');
  });
});

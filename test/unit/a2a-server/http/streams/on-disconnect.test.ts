import { describe, expect, it } from '@jest/globals';
import {
  CancellingDisconnectHandler,
  RECONNECT_GRACE_MS,
} from '../../../../../a2a-server/http/streams/on-disconnect.ts';
import { ReadersAtOtherServers } from '../../../../../a2a-server/http/streams/readers-at-other-servers.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { memoryRecords } from '../../../../support/memory-records.ts';

const MESSAGE = { principal: 'ada', seq: 2 };

function setUp(others?: ReadersAtOtherServers, failure?: Error) {
  const clock = new FakeClock();
  const cancels: unknown[] = [];
  const cancelled: string[] = [];
  const warnings: unknown[] = [];
  const settle: (() => void)[] = [];
  const disconnects = new CancellingDisconnectHandler({
    tasks: {
      async cancelWork(taskId, by, left) {
        cancels.push([taskId, by, left]);
        cancelled.push(`${taskId} of ${by.principal}`);
        if (failure !== undefined) throw failure;
      },
      async *follow(_taskId, _after, { signal }) {
        await new Promise<void>((resolve) => {
          settle.push(resolve);
          signal.addEventListener('abort', () => resolve());
        });
        yield [];
      },
    },
    clock,
    log: { warn: (facts: unknown) => void warnings.push(facts) },
    others,
  });
  const settles = async (): Promise<void> => {
    settle.at(-1)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, cancels, cancelled, warnings, disconnects, settles };
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

  it('the cancel has the principal, the channel and the reason', () => {
    const { clock, cancels, warnings, disconnects } = setUp();
    disconnects.reads('t', MESSAGE)('left');
    clock.advance(RECONNECT_GRACE_MS);
    const by = { principal: 'ada', channel: 'disconnect' };
    const left = { messageSeq: 2, reason: 'its client disconnected and did not come back' };
    expect(cancels).toEqual([['t', by, left]]);
    expect(warnings).toEqual([]);
  });

  it('a failure of the cancel is in the log', async () => {
    const { clock, warnings, disconnects } = setUp(undefined, new Error('the disk is full'));
    disconnects.reads('t', MESSAGE)('left');
    clock.advance(RECONNECT_GRACE_MS);
    await turn();
    expect(warnings).toEqual([{ taskId: 't', problem: 'the disk is full' }]);
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

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Returns two servers that share records. The first one has the rule of the task. */
function twoServers() {
  const records = memoryRecords();
  const clock = new FakeClock();
  const failures: unknown[] = [];
  const log = { info: () => undefined, error: ({ err }: { err: unknown }) => void failures.push(err) };
  const readers = new ReadersAtOtherServers({ records, clock, log });
  const second = new ReadersAtOtherServers({ records, clock, log });
  return { records, clock, log, failures, readers, first: setUp(readers), second: setUp(second) };
}

describe('the servers of one database with --on-disconnect cancel', () => {
  it('a task goes on while a client reads it at another server', async () => {
    const { first, second } = twoServers();
    const start = first.disconnects.reads('t', MESSAGE);
    const elsewhere = second.disconnects.reads('t');
    start('left');
    await turn();
    first.clock.advance(RECONNECT_GRACE_MS);
    await turn();
    expect(first.cancelled).toEqual([]);
    // The client goes back to the first server, and leaves the second one.
    const back = first.disconnects.reads('t');
    elsewhere('left');
    await turn();
    first.clock.advance(RECONNECT_GRACE_MS);
    await turn();
    expect(first.cancelled).toEqual([]);
    back('left');
    first.clock.advance(RECONNECT_GRACE_MS);
    await turn();
    expect(first.cancelled).toEqual(['t of ada']);
  });

  it('the server that got the message cancels the task 10 s after the last reader at another server has left', async () => {
    const { first, second } = twoServers();
    first.disconnects.reads('t', MESSAGE)('left');
    const elsewhere = second.disconnects.reads('t');
    await turn();
    first.clock.advance(RECONNECT_GRACE_MS);
    await turn();
    elsewhere('left');
    await turn();
    first.clock.advance(RECONNECT_GRACE_MS - 1);
    await turn();
    expect(first.cancelled).toEqual([]);
    first.clock.advance(1);
    await turn();
    expect(first.cancelled).toEqual(['t of ada']);
    expect(second.cancelled).toEqual([]);
  });

  it('a reader of another task, or one that has already left, does not keep the task', async () => {
    const { first, second } = twoServers();
    second.disconnects.reads('other');
    second.disconnects.reads('t')('over');
    first.disconnects.reads('t', MESSAGE)('left');
    await turn();
    first.clock.advance(RECONNECT_GRACE_MS);
    await turn();
    expect(first.cancelled).toEqual(['t of ada']);
  });

  it('a task goes on while the readers at other servers cannot be read', async () => {
    const { records, failures, first } = twoServers();
    first.disconnects.reads('t', MESSAGE)('left');
    await turn();
    records.list = async () => {
      throw new Error('the database is away');
    };
    first.clock.advance(RECONNECT_GRACE_MS);
    await turn();
    expect(first.cancelled).toEqual([]);
    expect(failures).toEqual([new Error('the database is away')]);
  });

  it('a server that cannot store its reader tries again, so that the task goes on', async () => {
    const { records, clock, failures, first, second } = twoServers();
    const stored = { ...records };
    const away = new ProductError('STORAGE', 'the database is away');
    records.replace = async () => {
      throw away;
    };
    const start = first.disconnects.reads('t', MESSAGE);
    second.disconnects.reads('t');
    await turn();
    Object.assign(records, stored);
    // Both servers try again.
    clock.advance(60_000);
    await turn();
    expect(failures).toEqual([away, away]);
    start('left');
    await turn();
    first.clock.advance(RECONNECT_GRACE_MS);
    await turn();
    expect(first.cancelled).toEqual([]);
  });

  it('while many changes cannot be stored, the server tries one of them every 5 s, and logs the first failure', async () => {
    const { records, clock, failures, readers, first } = twoServers();
    const ends = Array.from({ length: 100 }, (_, at) => first.disconnects.reads(`t${at}`));
    await turn();
    const stored = { ...records };
    let attempts = 0;
    records.remove = async () => {
      attempts += 1;
      throw new ProductError('STORAGE', 'the database is away');
    };
    for (const end of ends) {
      end('over');
      await turn();
    }
    expect(clock.pending).toBe(1);
    const before = attempts;
    for (let retry = 0; retry < 4; retry += 1) {
      clock.advance(5_000);
      await turn();
    }
    expect(attempts - before).toBe(4);
    expect(failures).toHaveLength(1);
    expect((await records.list('readers')).size).toBe(100);
    Object.assign(records, stored);
    clock.advance(5_000);
    await turn();
    expect((await records.list('readers')).size).toBe(0);
    expect(clock.pending).toBe(0);
    // A later outage is logged again.
    records.replace = async () => {
      throw new ProductError('STORAGE', 'the database is away again');
    };
    first.disconnects.reads('later');
    await turn();
    expect(failures).toHaveLength(2);
    expect(clock.pending).toBe(1);
    await readers.close();
    expect(clock.pending).toBe(0);
    first.disconnects.reads('last');
    await turn();
    expect(clock.pending).toBe(0);
  });

  it('a start removes the records that a killed server has left behind, when they are old', async () => {
    const { records, clock, log, second } = twoServers();
    second.disconnects.reads('t');
    await turn();
    const starting = new ReadersAtOtherServers({ records, clock, log });
    starting.removeOld();
    await turn();
    expect((await records.list('readers')).size).toBe(1);
    clock.advance(25 * 60 * 60_000);
    starting.removeOld();
    await turn();
    expect((await records.list('readers')).size).toBe(0);
  });
});

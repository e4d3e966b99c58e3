import { afterEach, expect, test } from '@jest/globals';
import { PushDeliveries } from '../../../../a2a-server/push/deliveries.ts';
import { buildTaskRow } from '../../../../a2a-server/journal/build-task-row.ts';
import { StoredSubscriptions } from '../../../../a2a-server/push/stored-subscriptions.ts';
import { type PushSubscription } from '../../../../a2a-server/push/push-subscription.ts';
import type { JournalEntry, TaskEvent } from '../../../../a2a-server/task/events.ts';
import { foldAll } from '../../../../a2a-server/task/fold.ts';
import { isHiddenEvent } from '../../../../a2a-server/task/generation.ts';
import type { RecordStore } from '../../../../a2a-server/records/record-store.ts';
import { createLogger } from '../../../../shared/runtime/logging.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryRecords } from '../../../support/memory-records.ts';
import { type PushReceiver, pushReceiver } from '../../../support/push-receiver.ts';
import { pushSubscription } from '../../../support/push-subscription.ts';
import { pushParts, unused } from '../../../support/push-parts.ts';

const receivers: PushReceiver[] = [];
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop();
});

/**
 * @param meanwhile runs before the first change of a record
 * @returns deliveries whose store answers a listing when the test calls `answer`
 */
function withSlowStore(meanwhile?: (records: RecordStore) => Promise<void>) {
  let answer: (() => void) | undefined;
  const clock = new FakeClock();
  const quick = memoryRecords();
  const records: typeof quick = {
    ...quick,
    list: (kind, prefix) =>
      kind === 'push'
        ? new Promise((resolve) => (answer = () => resolve(new Map())))
        : quick.list(kind, prefix),
    async swap(...change) {
      const act = meanwhile;
      meanwhile = undefined;
      await act?.(quick);
      return quick.swap(...change);
    },
  };
  const subscriptions = new StoredSubscriptions(records);
  const deliveries = new PushDeliveries({ ...pushParts(), subscriptions, clock });
  return { deliveries, subscriptions, clock, answer: () => answer?.() };
}

test.each(['the first look', 'a later look'])(
  'a stop waits for %s, so the store closes after it',
  async (which) => {
    const { deliveries, clock, answer } = withSlowStore();
    deliveries.readOtherChanges();
    if (which === 'a later look') {
      while (clock.pending === 0) {
        answer();
        await new Promise(setImmediate);
      }
      clock.advance(5_000);
    }
    let stopped = false;
    const stop = deliveries.stop().then(() => (stopped = true));
    await new Promise(setImmediate);
    expect(stopped).toBe(false);
    answer();
    await stop;
    expect(clock.pending).toBe(0);
  },
);

const SUBSCRIPTION = pushSubscription();

test('a retry is stored, even if the last attempt fails between its read and its write', async () => {
  const dead = { type: 'dead', at: 2, problem: 'away' } as const;
  const { deliveries, subscriptions } = withSlowStore((records) =>
    records.replace('push', 'mine', JSON.stringify({ ...SUBSCRIPTION, delivery: dead })),
  );
  const retrying = { type: 'retrying', attempts: 1, since: 0, at: 1, problem: 'away' } as const;
  await subscriptions.replace('mine', { ...SUBSCRIPTION, delivery: retrying });
  await deliveries.retry('mine');
  expect((await subscriptions.read('mine'))?.subscription.delivery).toEqual({ type: 'active' });
  await deliveries.stop();
});

/**
 * Deliveries of one task to one real receiver. `say` appends events to its journal, and waits until they are delivered.
 */
async function delivering(
  more: Partial<PushSubscription>,
  removing: () => TaskEvent[] = () => [],
  isRevoked: (tokenId: string, posts: number) => boolean = () => false,
) {
  const logged: string[] = [];
  const access = { mark: 'known' };
  const receiver = await pushReceiver();
  receivers.push(receiver);
  const entries: JournalEntry[] = [];
  const reads: number[] = [];
  /** The names of the records that were read one by one. */
  const recordsRead: string[] = [];
  const now = () => {
    const snapshot = foldAll('task-1', entries);
    return snapshot ? Promise.resolve(snapshot) : unused();
  };
  const memory = memoryRecords();
  const records: typeof memory = {
    ...memory,
    read(kind, name) {
      recordsRead.push(name);
      return memory.read(kind, name);
    },
    remove(...record) {
      push(removing());
      return memory.remove(...record);
    },
  };
  const subscriptions = new StoredSubscriptions(records);
  const deliveries = new PushDeliveries({
    ...pushParts(),
    bodies: {
      ofTask: ({ status, seq }) => JSON.stringify({ whole: status.state, seq }),
      ofEntry: ({ seq, event }, _, { shown }) =>
        isHiddenEvent(event) ? undefined : JSON.stringify({ event: event.type, seq, shown }),
    },
    signer: { sign: async () => 'signature' },
    subscriptions,
    tasks: {
      row: async () => ({ ...(await now()), state: (await now()).status.state, title: '', deadline: null }),
      snapshot: now,
      entries: async (_task, _reader, { after, limit }) => {
        reads.push(after);
        return entries.slice(after, after + limit);
      },
    },
    journal: { rows: () => Promise.resolve([buildTaskRow('task-1', entries) ?? []].flat()) },
    log: createLogger({ name: 'test', level: 'warn', destination: { write: (line) => logged.push(line) } }),
    isRevoked: async (tokenId) => isRevoked(tokenId, receiver.notifications.length),
    fingerprintOf: () => access.mark,
    shared: more.lease !== undefined,
  });
  const subscription = { ...SUBSCRIPTION, ...more, url: receiver.url };
  const push = (events: readonly TaskEvent[]): void => {
    for (const event of events) entries.push({ seq: entries.length + 1, at: 0, event });
  };
  const append = (events: readonly TaskEvent[]): void => {
    push(events);
    deliveries.wake(['task-1']);
  };
  const isDone = async () => {
    const stored = await subscriptions.read('mine');
    return stored === undefined || stored.subscription.cursor === entries.length;
  };
  const done = async (): Promise<void> => {
    while (!(await isDone())) await new Promise(setImmediate);
  };
  const say = (...events: TaskEvent[]): Promise<void> => {
    append(events);
    return done();
  };
  await say({ type: 'task.created', sessionId: 'session-1', principal: 'local', settings: {} });
  await subscriptions.replace('mine', subscription);
  deliveries.add('mine', subscription);
  await say();
  /** Appends events that need no post. */
  const mumble = async (...events: TaskEvent[]): Promise<void> => {
    const before = reads.length;
    append(events);
    while (reads.length === before) await new Promise(setImmediate);
  };
  /** Asks for a retry as a command does, and waits until the receiver has everything. */
  const retry = async (): Promise<string[]> => {
    await subscriptions.requestRetry('mine');
    deliveries.readOtherChanges();
    await done();
    return subscriptions.requestedRetries();
  };
  /** Registers the same receiver again, as another server does. @param cursor the position of its delivery */
  const registerElsewhere = (cursor: number): Promise<void> =>
    subscriptions.replace('other', {
      ...subscription,
      id: 'other',
      cursor,
      counted: { shown: 1, reasoning: 0 },
    });
  /** Registers the same configuration again with another token. */
  const registerAgain = (): void =>
    void subscriptions.replace('mine', { ...subscription, tokenId: 'new', cursor: null });
  /** Ends the delivery as another server of the same database does. */
  const removeElsewhere = (): Promise<boolean> => memory.remove('push', 'mine');
  return {
    say,
    push,
    removeElsewhere,
    append,
    retry,
    mumble,
    registerElsewhere,
    registerAgain,
    recordsRead,
    logged,
    access,
    look: () => deliveries.readOtherChanges(),
    until: receiver.until,
    posts: () => receiver.notifications.map(({ body }): unknown => JSON.parse(body)),
  };
}

const text = (word: string): TaskEvent => ({ type: 'text.delta', turn: 1, text: word });

test('a receiver of A2A 1.0 gets the task, then each event; a record of an earlier version is one of A2A 1.0', async () => {
  const { say, posts } = await delivering({});
  await say({ type: 'task.working' }, text('one'));
  await say({ type: 'task.completed' });
  expect(posts()).toEqual([
    { whole: 'submitted', seq: 1 },
    { event: 'task.working', seq: 2, shown: 2 },
    { event: 'text.delta', seq: 3, shown: 3 },
    { event: 'task.completed', seq: 4, shown: 4 },
  ]);
});

test('each event comes with the number of events so far, also for a record that an earlier version wrote', async () => {
  const { say, posts } = await delivering({ cursor: 1 });
  await say({ type: 'context.exceeded' }, text('one'));
  await say({ type: 'context.exceeded' });
  await say(text('two'), { type: 'task.completed' });
  expect(posts()).toEqual([
    { event: 'text.delta', seq: 3, shown: 2 },
    { event: 'text.delta', seq: 5, shown: 3 },
    { event: 'task.completed', seq: 6, shown: 4 },
  ]);
});

test('another server’s lease that ends too late counts as ended, because the clock was set back', async () => {
  const until = new FakeClock().now() + 15_001;
  const { posts } = await delivering({ lease: { by: 'another server', until } });
  expect(posts()).toHaveLength(1);
});

test('X1 a receiver gets nothing more once its token is revoked, even if several events wait for it', async () => {
  const { say, posts, logged } = await delivering(
    { tokenId: 'stolen' },
    () => [],
    (tokenId, count) => tokenId === 'stolen' && count === 2,
  );
  await say({ type: 'task.working' }, text('one'), text('two'));
  expect(posts()).toHaveLength(2);
  expect(logged).toEqual([expect.stringMatching(/gets nothing more/)]);
});

test('E3 a configuration that is registered again while its revoked token ends the delivery stays', async () => {
  let found: (() => void) | undefined;
  const { append, registerAgain, until, posts } = await delivering(
    { tokenId: 'stolen' },
    () => [],
    (tokenId) => {
      if (tokenId === 'stolen') found?.();
      return tokenId === 'stolen' && found !== undefined;
    },
  );
  found = registerAgain;
  append([{ type: 'task.working' }]);
  await until(() => posts().length === 2);
  expect(posts().at(-1)).toEqual({ whole: 'working', seq: 2 });
});

test('X1 a receiver gets nothing more once the settings no longer have its token, and the log says so once', async () => {
  const { append, access, recordsRead, posts, logged } = await delivering({ mark: 'known' });
  access.mark = 'changed';
  for (const word of ['one', 'two']) {
    const before = recordsRead.length;
    append([text(word)]);
    while (recordsRead.length === before || logged.length === 0) await new Promise(setImmediate);
  }
  expect(posts()).toHaveLength(1);
  expect(logged).toEqual([expect.stringMatching(/gets nothing more/)]);
});

test('a receiver of A2A 0.3 gets the task once for all new events, if they changed its state', async () => {
  const { say, mumble, posts } = await delivering({ wire: '0.3' });
  await say({ type: 'task.working' }, text('one'));
  await mumble(text('two'), text('three'));
  await say({ type: 'input.required', pending: [], question: 'Why?' }, { type: 'task.working' });
  await say(text('four'), { type: 'task.completed' });
  expect(posts()).toEqual([
    { whole: 'submitted', seq: 1 },
    { whole: 'working', seq: 3 },
    { whole: 'working', seq: 7 },
    { whole: 'completed', seq: 9 },
  ]);
});

test('an event that comes while a chat’s subscription is removed reaches the chat', async () => {
  const meanwhile: TaskEvent[] = [
    { type: 'task.canceled', by: { principal: 'local', channel: 'a2a' }, reason: '' },
  ];
  const { say, posts, until } = await delivering({ wire: 'slack', chat: { title: '', afterMs: 0 } }, () =>
    meanwhile.splice(0),
  );
  await say({ type: 'input.required', pending: [], question: 'Why?' });
  await until(() => posts().length === 3);
  expect(posts()).toEqual([
    { whole: 'submitted', seq: 1 },
    { whole: 'input-required', seq: 2 },
    { whole: 'canceled', seq: 3 },
  ]);
});

test('a receiver that was given up gets nothing, and after a retry all that it has missed', async () => {
  const { append, retry, posts } = await delivering({
    cursor: 1,
    delivery: { type: 'dead', since: 0, at: 1, problem: 'HTTP 500' },
  });
  append([{ type: 'task.working' }, text('one')]);
  await new Promise(setImmediate);
  expect(posts()).toEqual([]);
  append([{ type: 'task.completed' }]);
  expect(await retry()).toEqual([]);
  expect(posts()).toMatchObject([
    { event: 'task.working', seq: 2 },
    { event: 'text.delta', seq: 3 },
    { event: 'task.completed', seq: 4 },
  ]);
});

test('a look delivers an event whose wake-up was lost, and asks nothing about a receiver that has everything', async () => {
  const { say, push, registerElsewhere, recordsRead, look, until, posts } = await delivering({});
  await say({ type: 'task.working' });
  await registerElsewhere(1);
  recordsRead.length = 0;
  look();
  await until(() => posts().length === 3);
  expect(posts().at(-1)).toMatchObject({ event: 'task.working', seq: 2 });
  expect(new Set(recordsRead)).toEqual(new Set(['other']));
  push([text('one')]);
  look();
  await until(() => posts().length === 5);
  expect(posts().slice(3)).toMatchObject([{ seq: 3 }, { seq: 3 }]);
});

test('the server forgets a subscription that another server has ended', async () => {
  const { append, removeElsewhere, recordsRead } = await delivering({});
  await removeElsewhere();
  recordsRead.length = 0;
  append([text('one')]);
  await new Promise(setImmediate);
  expect(recordsRead).toEqual(['mine']);
  append([text('two')]);
  await new Promise(setImmediate);
  expect(recordsRead).toEqual(['mine']);
});

/** Tests streams as cursors on the journal: several at once, cut after any event, and resumed. */
import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { openSqliteJournal } from '../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import type { JournalEntry } from '../../../a2a-server/task/events.ts';
import { decisionOn, writtenMessage } from '../../support/a2a-message.ts';
import { delegate, ENDINGS } from '../../support/connection-ending.ts';
import type { EventStream } from '../../support/event-stream.ts';
import { makeGate } from '../../support/gate.ts';
import { append, plan, shell } from '../../support/offline-plan.ts';
import type { RawConnection } from '../../support/raw-connection.ts';
import { sharedStage } from '../../support/shared-stage.ts';
import { stage, stageAgain } from '../../support/stage.ts';
import { activitiesOf, type StreamEvent } from '../../support/wire-event.ts';

/** @returns the events of a stream as text, without the task that may begin it */
function updates(events: readonly StreamEvent[]): string[] {
  return events.filter(({ type }) => type !== 'task').map(({ data }) => data);
}

function after(seq: number, events: readonly StreamEvent[]): StreamEvent[] {
  return events.filter((event) => event.seq > seq);
}

describe.each(ENDINGS)('two streams on one task (the first connection: $name)', (ending) => {
  it('R05 two streams get all events in the same order, and the end of one stream does not end the other', async () => {
    const { server, peer } = await sharedStage();
    const gate = await makeGate(server.workspace);
    const text = plan(append('a.txt', '1'), shell(`echo running; ${gate.wait}`));
    const first = await delegate(peer, ending, { text });
    const { taskId } = first.seen[0] ?? {};
    if (taskId === undefined) throw new Error('the stream began with no task');
    const watcher = await peer.follow(taskId);
    const { seq: from = 0 } = (await watcher.next()) ?? {};

    const parked = await first.parked();
    const next = await ending.leave(first, peer);
    const second = await peer.decide(taskId, [decisionOn(parked.pending, 'approve')], { over: next });
    const asked = await second.parked();
    const third = await peer.decide(taskId, [decisionOn(asked.pending, 'approve', { scope: 'always' })]);
    await third.output('running');
    // The reader of the third task disconnects while the tool runs. The watcher's stream must continue.
    third.connection.reset();
    await third.connection.closed;
    await watcher.output('running');
    await gate.pass();
    await watcher.rest();

    expect(watcher.seen.at(-1)?.state).toBe('COMPLETED');
    const whole = await peer.history(taskId);
    expect(updates(watcher.seen)).toEqual(updates(after(from, whole)));
    for (const stream of [first, second, third]) {
      const [start] = stream.seen;
      const seen = updates(stream.seen);
      expect(seen).toEqual(updates(after(start?.seq ?? 0, whole)).slice(0, seen.length));
    }
  });
});

/** The ways in which a client disconnects while the tool runs. */
const DEPARTURES: {
  name: string;
  headers?: Record<string, string>;
  leave: (connection: RawConnection) => void;
}[] = [
  { name: 'reset', leave: (connection) => connection.reset() },
  { name: 'closed', headers: { Connection: 'close' }, leave: (connection) => connection.destroy() },
  { name: 'half-closed, and not read any more', leave: (connection) => connection.halfClose() },
];

describe('a client that disconnects while a tool runs', () => {
  it.each(DEPARTURES)(
    'R24 after a connection is $name, the tool keeps running, and a new subscription gets the later events',
    async (departure) => {
      const { server, peer, file } = await sharedStage();
      const gate = await makeGate(server.workspace);
      const text = plan(shell(`echo ran >> effects.txt; echo running; ${gate.wait}; echo over`));
      const first = await peer.stream(text, {
        settings: { autoExecute: true },
        ...(departure.headers && { headers: departure.headers }),
      });
      await first.output('running');
      const { taskId = '', seq = 0 } = first.seen.at(-1) ?? {};
      departure.leave(first.connection);
      expect((await peer.task(taskId)).overview.calls).toMatchObject([{ state: 'running' }]);
      await gate.pass();
      const rest = await (await peer.follow(taskId, seq)).rest();
      expect(rest.at(-1)?.state).toBe('COMPLETED');
      const whole = await peer.history(taskId);
      expect(updates([...first.seen, ...rest])).toEqual(updates(after(first.seen[0]?.seq ?? 0, whole)));
      expect(activitiesOf(rest).at(-1)).toMatchObject({ type: 'tool.finished', outcome: 'ok' });
      expect(await file('effects.txt')).toBe('ran\n');
    },
  );

  it('R24 if the connection stays open, the next request on it gets the later events', async () => {
    const { server, peer, file } = await sharedStage();
    const gate = await makeGate(server.workspace);
    const text = plan(shell(`echo ran >> effects.txt; echo running; ${gate.wait}; echo over`));
    const connection = await peer.connect();
    const params = {
      message: writtenMessage(text, { settings: { autoExecute: true } }),
      configuration: { returnImmediately: true },
    };
    await peer.call('SendMessage', params, { over: connection });
    const [task] = await peer.list();
    const watcher = await peer.follow(task?.taskId ?? '', 0);
    await watcher.output('running');
    const seq = watcher.seen.at(-1)?.seq ?? 0;
    const follower = await peer.follow(task?.taskId ?? '', seq, { over: connection });
    await gate.pass();
    const rest = await follower.rest();
    expect(rest.at(-1)?.state).toBe('COMPLETED');
    await watcher.rest();
    expect(updates(rest)).toEqual(updates(after(seq, watcher.seen)));
    expect(await file('effects.txt')).toBe('ran\n');
  });
});

describe('a stream that is cut', () => {
  it('R25 for a cut after any event, the events before and after the cut are the whole journal, each once', async () => {
    const { peer } = await sharedStage();
    const text = plan(
      { say: 'One ', repeat: 2 },
      { together: [append('a.txt', '1'), shell('echo out')] },
      { say: 'two ', repeat: 2 },
    );
    const run = () => peer.stream(text, { settings: { autoExecute: true } });
    const { length } = await (await run()).rest();
    expect(length).toBeGreaterThan(20);
    for (let k = 1; k <= length; k += 1) {
      const first = await run();
      await first.until(() => first.seen.length === k);
      first.connection.reset();
      const { taskId = '', seq = 0 } = first.seen.at(-1) ?? {};
      const rest = await (await peer.follow(taskId, seq)).rest();
      const whole = await peer.history(taskId);
      expect(updates([...first.seen, ...rest])).toEqual(updates(after(first.seen[0]?.seq ?? 0, whole)));
      expect(whole.at(-1)?.state).toBe('COMPLETED');
    }
  });

  it('R25 a reader that reconnects after every event gets each event once, while the task works, waits and continues', async () => {
    const { server, peer } = await sharedStage();
    const gate = await makeGate(server.workspace);
    const text = plan(append('a.txt', '1'), shell(`echo running; ${gate.wait}`), { say: 'Over.' });
    const first = await peer.stream(text);
    const { taskId = '', seq: from = 0 } = (await first.next()) ?? {};
    const nervous = readAnew((cursor) => peer.follow(taskId, cursor), from);
    const asked = await first.parked();
    const second = await peer.decide(taskId, [decisionOn(asked.pending, 'approve', { scope: 'always' })]);
    await second.output('running');
    await gate.pass();
    expect((await second.rest()).at(-1)?.state).toBe('COMPLETED');
    expect(updates(await nervous)).toEqual(updates(after(from, await peer.history(taskId))));
  });

  it('R25 J1 S1 across a kill -9 and a restart, the reader’s events equal the journal on the disk', async () => {
    const before = await stage();
    const gate = await makeGate(before.server.workspace);
    const text = plan(append('a.txt', '1'), shell(`echo running; ${gate.wait}`), append('b.txt', '2'));
    const first = await before.peer.stream(text, { settings: { autoExecute: true } });
    await first.output('running');
    await before.server.kill();
    await expect(first.rest()).rejects.toThrow();

    const { server, peer } = await stageAgain(before);
    const { taskId = '', seq = 0 } = first.seen.at(-1) ?? {};
    const resumed = await peer.follow(taskId, seq);
    const { pending } = await resumed.parked();
    await gate.pass();
    await gate.pass();
    await (await peer.decide(taskId, [decisionOn(pending, 'approve')])).rest();
    await resumed.rest();
    expect(resumed.seen.at(-1)?.state).toBe('COMPLETED');
    await server.kill();
    const entries = await journalled(server.stateDir, taskId);
    expect(entries.map((entry) => entry.seq)).toEqual(entries.map((_, n) => n + 1));
    // A client gets neither its own message nor the events about saved files.
    const untold = new Set(['message.received', 'files.saved']);
    const shown = entries.filter(({ event }) => !untold.has(event.type)).map((entry) => entry.seq);
    const read = [...first.seen, ...resumed.seen].slice(1).map((event) => event.seq);
    expect(read).toEqual(shown.filter((position) => position > (first.seen[0]?.seq ?? 0)));
  });
});

/** Reads a task's entries from the journal of a server that has ended. */
async function journalled(stateDir: string, taskId: string): Promise<JournalEntry[]> {
  const journal = await openSqliteJournal({ path: join(stateDir, 'journal.db'), clock: () => 0 });
  try {
    return await journal.read(taskId, 0, 10_000);
  } finally {
    await journal.close();
  }
}

/** Reads one event, cuts the connection, and reconnects with the event's id. Repeats this until the task has ended. */
async function readAnew(
  follow: (cursor: number) => Promise<EventStream>,
  from: number,
): Promise<StreamEvent[]> {
  const seen: StreamEvent[] = [];
  let cursor = from;
  for (;;) {
    const stream = await follow(cursor);
    const event = await stream.next();
    stream.connection.reset();
    if (event === undefined) return seen;
    seen.push(event);
    cursor = event.seq;
  }
}

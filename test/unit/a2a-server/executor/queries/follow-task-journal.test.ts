import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { followTaskJournal } from '../../../../../a2a-server/executor/queries/follow-task-journal.ts';
import type { Journal } from '../../../../../a2a-server/journal/journal.ts';
import { openSqliteJournal } from '../../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import type { JournalEntry, TaskEvent } from '../../../../../a2a-server/task/events.ts';
import {
  beginning,
  completed,
  continuing,
  delta,
  inputRequired,
  message,
  working,
} from '../../../../support/journal-samples.ts';
import { countLoopTurns } from '../../../../support/loop-turns.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const TASK = 'task-1';
const BEGINNING = [message('do it'), working];

let journal: Journal;
let stop: AbortController;

beforeEach(async () => {
  journal = await openSqliteJournal({ path: join(await temporaryDirectory(), 'journal.db'), clock: () => 1 });
  await journal.append(beginning(TASK, { events: BEGINNING }));
  stop = new AbortController();
});
afterEach(() => journal.close());

type Until = 'settled' | 'ended';

function follow(after: number, until: Until = 'ended'): AsyncGenerator<readonly JournalEntry[]> {
  return followTaskJournal(journal, { taskId: TASK, after }, { until, signal: stop.signal });
}

async function append(...events: TaskEvent[]): Promise<void> {
  const { seq = 0, state } = (await journal.row(TASK)) ?? {};
  await journal.append(continuing(TASK, seq, events, state));
}

function deltas(count: number): TaskEvent[] {
  return Array.from({ length: count }, (_, index) => delta(String(index)));
}

/** Reads batches until the event `last`. Returns the seq of each event. */
async function positionsTo(last: number, reader: AsyncGenerator<readonly JournalEntry[]>): Promise<number[]> {
  const seen: number[] = [];
  while (seen.at(-1) !== last) {
    const { value, done } = await reader.next();
    if (done === true) break;
    seen.push(...value.map(({ seq }) => seq));
  }
  return seen;
}

async function toTheEnd(reader: AsyncGenerator<readonly JournalEntry[]>): Promise<number[]> {
  return positionsTo(Number.POSITIVE_INFINITY, reader);
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

describe('a reader of the journal', () => {
  it('X3 a reader of a long journal lets other work run between two pages', async () => {
    await append(...deltas(1_100));
    const reader = follow(0);
    expect(await countLoopTurns(() => positionsTo(1_103, reader))).toBeGreaterThanOrEqual(4);
  });

  it.each([256, 257, 600])(
    'S1 a reader that sleeps wakes and reads all of %p entries that are appended',
    async (count) => {
      const reader = follow(0);
      expect(await positionsTo(3, reader)).toEqual([1, 2, 3]);
      const asleep = reader.next();
      await append(...deltas(count));
      const { value } = await asleep;
      const first = (value ?? []).map((entry: JournalEntry) => entry.seq);
      // If the reader has all events, no append would wake it. So the test does not read again.
      const rest = first.at(-1) === 3 + count ? [] : await positionsTo(3 + count, reader);
      expect([...first, ...rest]).toEqual(range(4, 3 + count));
      stop.abort();
      expect(await reader.next()).toEqual({ done: true, value: undefined });
    },
  );

  it('S1 a reader misses no entry that is appended while it processes a batch', async () => {
    const reader = follow(0);
    expect(await positionsTo(3, reader)).toEqual([1, 2, 3]);
    await append(...deltas(2));
    expect(await positionsTo(5, reader)).toEqual([4, 5]);
    await append(...deltas(300), completed);
    expect(await toTheEnd(reader)).toEqual(range(6, 306));
  });

  it.each<{ until: Until; last: TaskEvent; over: boolean }>([
    { until: 'ended', last: completed, over: true },
    { until: 'settled', last: completed, over: true },
    { until: 'settled', last: inputRequired, over: true },
    { until: 'ended', last: inputRequired, over: false },
  ])(
    'a reader that reads until the task has $until ends after $last.type: $over',
    async ({ until, last, over }) => {
      const reader = follow(0, until);
      expect(await positionsTo(3, reader)).toEqual([1, 2, 3]);
      await append(delta('a'), last);
      expect(await positionsTo(5, reader)).toEqual([4, 5]);
      const next = reader.next();
      if (!over) {
        await append(working);
        expect((await next).value).toMatchObject([{ seq: 6 }]);
        stop.abort();
      }
      expect(await (over ? next : reader.next())).toEqual({ done: true, value: undefined });
    },
  );

  it('a reader stops at the entry that ends the task, and a later read can continue from the end', async () => {
    await append(inputRequired, delta('a'), completed);
    expect(await toTheEnd(follow(2, 'settled'))).toEqual([3, 4]);
    expect(await toTheEnd(follow(4, 'settled'))).toEqual([5, 6]);
    expect(await toTheEnd(follow(6))).toEqual([]);
  });

  it.each([253, 256])(
    'S1 a reader sleeps after a full page of %p events if the page ends at the journal’s end',
    async (count) => {
      const first = count === 253 ? 0 : 3;
      await append(...deltas(count));
      const reader = follow(first);
      expect(await positionsTo(count + 3, reader)).toEqual(range(first + 1, count + 3));
      const next = reader.next();
      await journal.read(TASK, 0, 1);
      await append(completed);
      expect((await next).value).toMatchObject([{ seq: count + 4 }]);
    },
  );

  it('S2 a position beyond the end is refused, and the end itself is accepted', async () => {
    await expect(follow(4).next()).rejects.toMatchObject({
      reason: 'INVALID_CURSOR',
      facts: { last: '3' },
    });
    const reader = follow(3);
    const next = reader.next();
    await append(completed);
    expect((await next).value).toMatchObject([{ seq: 4 }]);
  });

  it('S2 an unknown task is refused, and so is a task that is deleted during the read', async () => {
    await expect(
      followTaskJournal(
        journal,
        { taskId: 'task-2', after: 0 },
        { until: 'ended', signal: stop.signal },
      ).next(),
    ).rejects.toMatchObject({ reason: 'UNKNOWN_TASK' });
    await append(...deltas(300), completed);
    const reader = follow(0);
    expect((await reader.next()).value).toHaveLength(256);
    await journal.deleteEndedSessions(Number.MAX_SAFE_INTEGER, 100);
    await expect(reader.next()).rejects.toMatchObject({ reason: 'UNKNOWN_TASK' });
  });

  it('E4 a reader stops if its signal is aborted, also while it sleeps', async () => {
    const reader = follow(3);
    const next = reader.next();
    stop.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(await follow(0).next()).toEqual({ done: true, value: undefined });
  });

  it('S1 S3 a reader of large entries gets them in small pages, and reads on after each page', async () => {
    const reader = follow(3);
    const asleep = reader.next();
    await append(delta('a'.repeat(40_000)), delta('b'.repeat(40_000)), delta('c'), completed);
    expect((await asleep).value).toHaveLength(2);
    expect(await toTheEnd(reader)).toEqual([6, 7]);
  });

  it('S3 a reader removes its watcher at the end and after a stop', async () => {
    let watchers = 0;
    const watch = journal.watch.bind(journal);
    journal.watch = (taskId, wake) => {
      watchers += 1;
      const unwatch = watch(taskId, wake);
      return () => {
        watchers -= 1;
        unwatch();
      };
    };
    const reader = follow(0);
    expect(await positionsTo(3, reader)).toEqual([1, 2, 3]);
    expect(watchers).toBe(1);
    await reader.return(undefined);
    expect(watchers).toBe(0);
    await append(completed);
    await toTheEnd(follow(0));
    expect(watchers).toBe(0);
  });
});

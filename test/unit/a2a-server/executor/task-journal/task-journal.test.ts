import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { TaskJournal } from '../../../../../a2a-server/executor/task-journal/task-journal.ts';
import type { Journal } from '../../../../../a2a-server/journal/journal.ts';
import { openSqliteJournal } from '../../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { foldAll } from '../../../../../a2a-server/task/fold.ts';
import { beginning, continuing, delta, message, working } from '../../../../support/journal-samples.ts';
import { journalWith } from '../../../../support/journal-with.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const TASK = 'task-1';
const TURN = { type: 'turn.started', turn: 1, model: 'offline' } as const;

let journal: Journal;
/** The seq after which each read of the journal began. */
let reads: number[];

beforeEach(async () => {
  const path = join(await temporaryDirectory(), 'journal.db');
  const real = await openSqliteJournal({ path, clock: () => 1 });
  reads = [];
  journal = journalWith(real, {
    read(taskId, after, limit) {
      reads.push(after);
      return real.read(taskId, after, limit);
    },
  });
  await journal.append(
    beginning(TASK, { events: [message('do it'), working, TURN, delta('a'), delta('b')] }),
  );
});

afterEach(() => journal.close());

/** Each test uses its log again at the end. So the garbage collector does not remove the log's snapshot. */
describe('a task that the server has loaded before', () => {
  it('J2 continues from its last snapshot, and equals the fold of the whole journal', async () => {
    const taskJournal = new TaskJournal(journal);
    const held = await taskJournal.load(TASK);
    await journal.append(continuing(TASK, 6, [delta('c')], 'working'));
    reads = [];
    const snapshot = await taskJournal.load(TASK);
    expect(reads).toEqual([held?.seq]);
    expect(snapshot?.openTurn?.text).toBe('abc');
    expect(snapshot).toEqual(foldAll(TASK, await journal.read(TASK, 0, 100)));
  });

  it('a list reads its events only if they are newer than the last snapshot', async () => {
    const taskJournal = new TaskJournal(journal);
    const held = await taskJournal.load(TASK);
    reads = [];
    expect(await taskJournal.loadIfReadable(TASK, 6)).toBe(held);
    expect(reads).toEqual([]);
    await journal.append(continuing(TASK, 6, [delta('c')], 'working'));
    expect(await taskJournal.loadIfReadable(TASK, 7)).toMatchObject({ seq: 7 });
    expect(reads).toEqual([6]);
  });

  it('a loaded task can be read in its state after an earlier event', async () => {
    const taskJournal = new TaskJournal(journal);
    await taskJournal.load(TASK);
    const earlier = await taskJournal.load(TASK, 5);
    expect(earlier).toEqual(foldAll(TASK, await journal.read(TASK, 0, 5)));
    expect(await taskJournal.load(TASK)).toMatchObject({ seq: 6, openTurn: { text: 'ab' } });
  });

  it('J1 a change applies to the task’s current state, also after another writer’s append', async () => {
    const taskJournal = new TaskJournal(journal);
    await taskJournal.load(TASK);
    await journal.append(continuing(TASK, 6, [delta('c')], 'working'));
    const changed = await taskJournal.change(TASK, ({ seq }) => [delta(String(seq))]);
    expect(changed).toMatchObject({ type: 'appended', snapshot: { seq: 8, openTurn: { text: 'abc7' } } });
  });

  it('if no event was added, the server does not read the task again before a decision', async () => {
    const taskJournal = new TaskJournal(journal);
    const held = await taskJournal.load(TASK);
    reads = [];
    const changed = await taskJournal.change(TASK, () => [delta('c')]);
    await taskJournal.load(TASK);
    expect(reads).toEqual([held?.seq, 7]);
    expect(changed?.type).toBe('appended');
  });
});

describe('a task with a running execution', () => {
  it('the task’s snapshot stays in memory until the execution releases it', async () => {
    const taskJournal = new TaskJournal(journal);
    const release = taskJournal.retain(TASK);
    await taskJournal.load(TASK);
    reads = [];
    await taskJournal.change(TASK, () => [delta('c')]);
    expect(reads).toEqual([]);
    release();
    await taskJournal.change(TASK, () => [delta('d')]);
    expect(reads).toHaveLength(1);
  });
});

it('a load of an unknown task returns undefined, and changes nothing', async () => {
  const taskJournal = new TaskJournal(journal);
  expect(await taskJournal.load('task-2')).toBeUndefined();
  expect(await taskJournal.change('task-2', () => [delta('c')])).toBeUndefined();
});

/** Property tests that compare a journal with a simple model: any interleaving of appends gives the same answers. */
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AppendRequest, AppendResult, Journal, TaskRow } from '../../a2a-server/journal/journal.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { TaskEvent } from '../../a2a-server/task/events.ts';
import { TERMINAL_STATES, type StateName } from '../../a2a-server/task/snapshot.ts';
import { taskStateAfter } from '../../a2a-server/task/fold.ts';
import { anyCharacter } from './any-character.ts';
import type { JournalStorage } from './journal-contract/journal-stage.ts';
import { JournalModel, type ModelResult } from './journal-model.ts';
import {
  inputRequiredUntil,
  commandKey,
  completed,
  created,
  delta,
  FINAL_EVENTS,
  inputRequired,
  message,
  working,
} from './journal-samples.ts';
import { numberOfRuns } from './property-runs.ts';

const PRINCIPALS = ['alice', 'bob'];
const SESSIONS = ['one', 'two', 'three'];
const ASKING = [1, 2, 3].map((ms) => inputRequiredUntil(new Date(ms).toISOString()));
/** The ids of the generated tasks. */
export const TASKS = ['a', 'b', 'c', 'd', 'e'];

/** A planned append. Its seq depends on the end of the task at the time of the append. */
interface Wish {
  taskId: string;
  begin: boolean;
  session: string;
  principal: string;
  /** The writer's expected seq, minus the seq at the end of the task. */
  lag: number;
  /** True if the writer sends this append without waiting for the answer to the previous one. */
  pipelined: boolean;
  events: TaskEvent[];
  messageId: string | undefined;
}

/** Some concurrent appends, and possibly a restart after them. */
interface Moment {
  wishes: Wish[];
  passes: number;
  restart: boolean;
  /** The journal deletes sessions that ended longer ago than this time. Undefined deletes none. */
  retention: number | undefined;
}

const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.constant('two\nlines'),
  fc.constant(''),
);
const event: fc.Arbitrary<TaskEvent> = fc.oneof(
  { weight: 6, arbitrary: text.map(delta) },
  { weight: 3, arbitrary: text.map((line) => message(line)) },
  { weight: 3, arbitrary: fc.constantFrom(working, inputRequired, ...ASKING) },
  { weight: 1, arbitrary: fc.constantFrom(completed, ...FINAL_EVENTS) },
);
const wish: fc.Arbitrary<Wish> = fc.record({
  taskId: fc.constantFrom(...TASKS),
  begin: fc.boolean(),
  session: fc.constantFrom(...SESSIONS),
  principal: fc.constantFrom(...PRINCIPALS),
  lag: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(-2, -1, 50) },
  ),
  pipelined: fc.boolean(),
  events: fc.array(event, { minLength: 1, maxLength: 4 }).map(untilTheEnd),
  messageId: fc.option(fc.constantFrom('m1', 'm2', 'm3', 'm4', 'm5', 'm6'), { nil: undefined, freq: 2 }),
});
const moment: fc.Arbitrary<Moment> = fc.record({
  wishes: fc.array(wish, { minLength: 1, maxLength: 6 }),
  passes: fc.nat({ max: 3 }),
  restart: fc.oneof(
    { weight: 9, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  retention: fc.option(fc.nat({ max: 2 }), { nil: undefined, freq: 2 }),
});

/** Returns a storage whose journals watch every task, so that the newest entries come from the cache. */
export function withWatchedTasks(createStorage: () => Promise<JournalStorage>) {
  return async (): Promise<JournalStorage> => {
    const storage = await createStorage();
    return {
      ...storage,
      async open(clock: () => number) {
        const journal = await storage.open(clock);
        for (const taskId of TASKS) journal.watch(taskId, () => undefined);
        return journal;
      },
    };
  };
}

/** @param runs the number of generated histories in `npm run test:all`; `npm test` generates a fifth */
export function itBehavesLikeTheModel(createStorage: () => Promise<JournalStorage>, runs: number): void {
  it('J1 J2 J3 for any order of appends and restarts, the journal returns what the test’s model returns', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(moment, { minLength: 1, maxLength: 12 }), async (moments) => {
        const storage = await createStorage();
        const model = new JournalModel();
        let now = 1;
        const open = () => storage.open(() => now);
        let journal = await open();
        try {
          for (const { wishes, passes, restart, retention } of moments) {
            now += passes;
            const seen = new Map(model.rows().map((row) => [row.taskId, row]));
            const asked = wishes.map((each) => {
              const append = appendOf(each, each.pipelined ? model.row(each.taskId) : seen.get(each.taskId));
              return { append, expected: model.append(append, now) };
            });
            const answers = Promise.all(asked.map(({ append }) => outcomeOf(journal.append(append))));
            expect(await answers).toEqual(asked.map(({ expected }) => expected));
            if (retention !== undefined)
              expect(await journal.deleteEndedSessions(now - retention, 100)).toBe(
                model.forget(now - retention),
              );
            if (restart) {
              await journal.close();
              journal = await open();
            }
          }
          await expectSame(journal, model);
        } finally {
          await journal.close();
          await storage.dispose();
        }
      }),
      { numRuns: numberOfRuns(runs) },
    );
  }, 120_000);
}

function appendOf(
  { taskId, begin, session, principal, lag, events, messageId }: Wish,
  row: TaskRow | undefined,
): AppendRequest {
  const command = messageId === undefined ? {} : { command: commandKey(messageId, 'hash', principal) };
  const state: StateName = row?.state ?? 'submitted';
  if (begin || row === undefined) {
    const all = [created(session, principal), ...events];
    return { taskId, expectedSeq: 0, events: all, state: taskStateAfter(all) ?? 'submitted', ...command };
  }
  return {
    taskId,
    expectedSeq: Math.max(1, row.seq + lag),
    events,
    state: taskStateAfter(events) ?? state,
    ...command,
  };
}

/** No correct writer appends anything after a task's end. */
function untilTheEnd(events: TaskEvent[]): TaskEvent[] {
  const end = events.findIndex((each) => TERMINAL_STATES.has(taskStateAfter([each]) ?? 'submitted'));
  return end < 0 ? events : events.slice(0, end + 1);
}

async function outcomeOf(append: Promise<AppendResult>): Promise<ModelResult> {
  try {
    return await append;
  } catch (error) {
    if (error instanceof ProductError && error.reason === 'TASK_ENDED') return { type: 'ended' };
    if (error instanceof ProductError && error.reason === 'UNKNOWN_TASK') return { type: 'unknown' };
    throw error;
  }
}

async function expectSame(journal: Journal, model: JournalModel): Promise<void> {
  for (const taskId of TASKS) {
    expect(await journal.read(taskId, 0, 10_000)).toEqual(model.tasks.get(taskId) ?? []);
    expect(await journal.row(taskId)).toEqual(model.row(taskId));
  }
  for (const principal of PRINCIPALS) {
    for (const session of SESSIONS) {
      expect(await journal.session(principal, session)).toEqual(model.session(principal, session));
    }
    for (const { messageId } of ['m1', 'm2', 'm3', 'm4', 'm5', 'm6'].map((id) => commandKey(id))) {
      expect(await journal.command(principal, messageId)).toEqual(model.command(principal, messageId));
    }
    const rows = model.rows().filter((row) => row.principal === principal);
    // Newest update first; at equal times, the later created task first.
    const newest = rows.toReversed().toSorted((a, b) => b.updatedAt - a.updatedAt);
    expect(await journal.list({ principal }, { size: 100 })).toEqual({
      rows: newest,
      tokens: newest.map(() => expect.any(String)),
      total: newest.length,
    });
  }
  const moving = model.rows().filter(({ state }) => state === 'submitted' || state === 'working');
  expect(await journal.unsettled()).toEqual(moving);
  const waiting = model.rows().filter(({ deadline }) => deadline !== null);
  const soonest = waiting.toSorted((a, b) => (a.deadline ?? 0) - (b.deadline ?? 0));
  expect(await journal.deadlines(100)).toEqual(soonest);
}

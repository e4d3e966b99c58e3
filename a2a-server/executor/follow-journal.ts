/**
 * A cursor on a task's journal: live, late, reconnecting and slow readers are this one code path.
 *
 * - S1 entries come in order, without gap or repeat, from the position given.
 * - S2 a position beyond the end is refused, never rounded, and so is one in a task that was deleted.
 * - S3 the reader pulls; between two reads it holds a number, nothing else.
 * - E5 a reader that has caught up sleeps until the journal wakes it.
 */
import { onAbort } from '../../shared/runtime/abort.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Journal } from '../journal/journal.ts';
import type { JournalEntry } from '../task/events.ts';
import { taskStateAfter } from '../task/fold.ts';
import { PARKED_STATES, TERMINAL_STATES, type StateName } from '../task/snapshot.ts';
import type { FollowUntil } from './task-service.ts';

const PAGE = 256;

export async function* followJournal(
  journal: Journal,
  taskId: string,
  after: number,
  { until, signal }: { until: FollowUntil; signal: AbortSignal },
): AsyncGenerator<readonly JournalEntry[], void, undefined> {
  let rung = false;
  let wake: (() => void) | undefined;
  // Watching begins before the first look, so that nothing falls between the two.
  const unwatch = journal.watch(taskId, () => {
    rung = true;
    wake?.();
  });
  const stopListening = onAbort(signal, () => wake?.());
  try {
    const row = await journal.row(taskId);
    if (row === undefined) throw unknown(taskId);
    if (after > row.seq)
      throw new ProductError(
        'INVALID_CURSOR',
        `Position ${after} is beyond the end of task ${taskId}, whose last event is ${row.seq}. Read the task anew.`,
        { facts: { lastSeq: String(row.seq) } },
      );
    let position = after;
    while (!signal.aborted) {
      // All that was there at first has been read and the task stood still at its end.
      if (position === row.seq && isOver(row.state, until)) return;
      if (position >= row.seq && !rung) {
        await new Promise<void>((resolve) => (wake = resolve));
        wake = undefined;
        continue;
      }
      rung = false;
      const entries = await journal.read(taskId, position, PAGE);
      const last = entries.at(-1);
      if (last === undefined) {
        // There was more: the task was deleted meanwhile.
        if (position < row.seq) throw unknown(taskId);
        continue;
      }
      const end = entries.findIndex(({ event }) => {
        const state = taskStateAfter([event]);
        return state !== undefined && isOver(state, until);
      });
      if (end !== -1) {
        yield entries.slice(0, end + 1);
        return;
      }
      // A full page may not be all there is: look again before sleeping.
      if (entries.length === PAGE) rung = true;
      position = last.seq;
      yield entries;
    }
  } finally {
    unwatch();
    stopListening();
  }
}

function unknown(taskId: string): ProductError {
  return new ProductError('UNKNOWN_TASK', `There is no task ${taskId.slice(0, 200)}.`);
}

function isOver(state: StateName, until: FollowUntil): boolean {
  return TERMINAL_STATES.has(state) || (until === 'settled' && PARKED_STATES.has(state));
}

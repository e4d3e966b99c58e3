/**
 * Reads a task's journal from a cursor. Live, late, reconnecting and slow readers use this one function.
 *
 * - S1: the reader gets the entries after its position in order, without gap or repeat.
 * - S2: a position after the end is refused, and never moved to the end. A deleted task is refused too.
 * - S3: the reader pulls pages of a limited size. So a slow reader keeps only one page in memory.
 * - E5: a reader at the end waits until the journal wakes it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { onAbort } from '../../../shared/runtime/abort.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { Journal } from '../../journal/journal.ts';
import type { JournalEntry } from '../../task/events.ts';
import { taskStateAfter } from '../../task/fold.ts';
import { PARKED_STATES, TERMINAL_STATES, type StateName } from '../../task/snapshot.ts';
import { unknownTaskError } from './task-lookup.ts';

/**
 * The state in which `follow` ends. `settled` means that the task waits for a person or has ended. `ended` means that
 * it has ended.
 */
export type FollowUntil = 'settled' | 'ended';

export async function* followTaskJournal(
  journal: Journal,
  { taskId, after }: { taskId: string; after: number },
  { until, signal }: { until: FollowUntil; signal: AbortSignal },
): AsyncGenerator<readonly JournalEntry[], void, undefined> {
  let appended = false;
  let wake: (() => void) | undefined;
  // The watch begins before the first read. Otherwise an append between the two would be missed.
  const unwatch = journal.watch(taskId, () => {
    appended = true;
    wake?.();
  });
  const stopListening = onAbort(signal, () => wake?.());
  try {
    const row = await journal.row(taskId);
    if (row === undefined) throw unknownTaskError(taskId);
    if (after > row.seq)
      throw new ProductError(
        'INVALID_CURSOR',
        `Position ${after} is beyond the end of task ${taskId}, whose last event is ${row.seq}. Get the task, then follow it from its current position.`,
        { facts: { last: String(row.seq) } },
      );
    let position = after;
    while (!signal.aborted) {
      // The reader has all entries, and the task is in a state that `until` names.
      if (position === row.seq && isOver(row.state, until)) return;
      if (position >= row.seq && !appended) {
        await new Promise<void>((resolve) => (wake = resolve));
        wake = undefined;
        continue;
      }
      appended = false;
      const { entries, isLast } = await journal.readPage(taskId, position);
      const newest = entries.at(-1);
      if (newest === undefined) {
        // The row names entries after this position, but the journal no longer has them. So the task has been deleted
        // since.
        if (position < row.seq) throw unknownTaskError(taskId);
        continue;
      }
      const end = entries.findIndex(({ event }) => {
        const state = taskStateAfter([event]);
        return state !== undefined && isOver(state, until);
      });
      yield end === -1 ? entries : entries.slice(0, end + 1);
      if (end !== -1) return;
      position = newest.seq;
      if (isLast) continue;
      // There may be more entries. They are read before the next wait. X3: other requests run first.
      appended = true;
      await nextTurn();
    }
  } finally {
    unwatch();
    stopListening();
  }
}

function isOver(state: StateName, until: FollowUntil): boolean {
  return TERMINAL_STATES.has(state) || (until === 'settled' && PARKED_STATES.has(state));
}

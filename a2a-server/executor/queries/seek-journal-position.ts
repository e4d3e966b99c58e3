import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Requester } from '../../access/requester.ts';
import { eventCountAfter, NO_EVENTS, type EventCount } from '../../task/generation.ts';
import type { TaskQueries } from './task-queries.ts';

const ENTRIES_PER_PAGE = 1_000;

/** A position in a journal: the `seq` of an entry, and the number of events up to this entry. */
export interface CountedJournalPosition {
  seq: number;
  counted: EventCount;
}

/**
 * Reads a journal from its beginning to the first position for which `isThere` is true. If there is no such position,
 * returns the last one. The time grows with the length of the task.
 */
export async function seekJournalPosition(
  tasks: Pick<TaskQueries, 'entries'>,
  { taskId, requester }: { taskId: string; requester: Requester },
  isThere: (position: CountedJournalPosition) => boolean,
): Promise<CountedJournalPosition> {
  let position: CountedJournalPosition = { seq: 0, counted: NO_EVENTS };
  for (;;) {
    if (isThere(position)) return position;
    const page = await tasks.entries(taskId, requester, { after: position.seq, limit: ENTRIES_PER_PAGE });
    if (page.length === 0) return position;
    for (const { seq, event } of page) {
      position = { seq, counted: eventCountAfter(position.counted, event) };
      if (isThere(position)) return position;
    }
    // X3: one page per event-loop turn. A long journal must not block other requests.
    await nextTurn();
  }
}

/**
 * Reads the entries of a task from the journal, in pages. So only one page at a time is in memory. X3: each page has
 * its own turn of the event loop, so a long journal does not block other requests.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JournalEntry } from '../task/events.ts';
import type { Journal } from './journal.ts';

const ENTRIES_PER_PAGE = 1_000;

/** Yields the entries of a task in order. @param upTo the `seq` of the last entry; by default the journal's end */
export async function* readEntryPages(
  journal: Pick<Journal, 'read'>,
  taskId: string,
  upTo = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly JournalEntry[], void, undefined> {
  let after = 0;
  while (after < upTo) {
    const page = await journal.read(taskId, after, Math.min(ENTRIES_PER_PAGE, upTo - after));
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = last.seq;
    await nextTurn();
  }
}

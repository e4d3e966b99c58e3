/** The index is nothing of its own: a task's row follows from the task's entries (J2). */
import type { JournalEntry } from '../task/events.ts';
import { deadlineAfter } from '../task/expiry.ts';
import { stateOf } from '../task/fold.ts';
import type { TaskRow } from './journal.ts';
import { titleFrom } from './title.ts';

/** The row these entries, all a task has, put into the index. @returns undefined for entries that begin no task. */
export function indexRow(taskId: string, entries: readonly JournalEntry[]): TaskRow | undefined {
  const first = entries[0];
  const last = entries.at(-1);
  if (first?.event.type !== 'task.created' || last === undefined) return undefined;
  const events = entries.map(({ event }) => event);
  return {
    taskId,
    sessionId: first.event.sessionId,
    principal: first.event.principal,
    state: stateOf(events) ?? 'submitted',
    seq: last.seq,
    createdAt: first.at,
    updatedAt: last.at,
    title: titleFrom(events),
    deadline: deadlineAfter(events) ?? null,
  };
}

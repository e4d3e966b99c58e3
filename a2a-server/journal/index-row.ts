/** Computes a task's row of the index from its entries (J2). */
import type { JournalEntry } from '../task/events.ts';
import { deadlineAfter } from '../task/expiry.ts';
import { taskStateAfter } from '../task/fold.ts';
import type { TaskRow } from './journal.ts';
import { taskTitle } from './task-title.ts';

/** The index row of a task. @param entries all entries of the task. @returns undefined if they do not start a task. */
export function indexRow(taskId: string, entries: readonly JournalEntry[]): TaskRow | undefined {
  const first = entries[0];
  const last = entries.at(-1);
  if (first?.event.type !== 'task.created' || last === undefined) return undefined;
  const events = entries.map(({ event }) => event);
  return {
    taskId,
    sessionId: first.event.sessionId,
    principal: first.event.principal,
    state: taskStateAfter(events) ?? 'submitted',
    seq: last.seq,
    createdAt: first.at,
    updatedAt: last.at,
    title: taskTitle(events),
    deadline: deadlineAfter(events) ?? null,
  };
}

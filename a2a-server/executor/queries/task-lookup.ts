/** Finds a task by its id. For an unknown task, every function throws the same error. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { maySeeTasksOf, type Requester } from '../../access/requester.ts';
import type { Journal, TaskRow } from '../../journal/journal.ts';
import type { Snapshot } from '../../task/snapshot.ts';
import type { TaskJournal } from '../task-journal/task-journal.ts';

/** Returns the row of a task that the requester may see. @throws ProductError UNKNOWN_TASK */
export async function requireVisibleRow(
  journal: Pick<Journal, 'row'>,
  taskId: string,
  requester: Requester,
): Promise<TaskRow> {
  const row = await journal.row(taskId);
  if (row === undefined || !maySeeTasksOf(requester, row.principal)) throw unknownTaskError(taskId);
  return row;
}

/**
 * Returns the task after its last entry, or after entry `atSeq`.
 * @throws ProductError UNKNOWN_TASK
 */
export async function requireSnapshot(
  taskJournal: Pick<TaskJournal, 'load'>,
  taskId: string,
  atSeq?: number,
): Promise<Snapshot> {
  const snapshot = await taskJournal.load(taskId, atSeq);
  if (snapshot === undefined) throw unknownTaskError(taskId);
  return snapshot;
}

export function unknownTaskError(taskId: string): ProductError {
  return new ProductError(
    'UNKNOWN_TASK',
    `There is no task ${taskId.slice(0, 200)}. List the tasks to see those that exist.`,
  );
}

/** Builds a snapshot from a task's row in the index. The row is all that is known of a task with damaged events. */
import type { TaskRow } from '../../journal/journal.ts';
import { firstSnapshot } from '../../task/fold.ts';
import type { Snapshot, SnapshotStatus } from '../../task/snapshot.ts';

export function snapshotFromRow(row: TaskRow): Snapshot | undefined {
  const { taskId, sessionId, principal, seq, createdAt, updatedAt } = row;
  const event = { type: 'task.created', sessionId, principal, settings: {} } as const;
  const begun = firstSnapshot(taskId, { seq, at: createdAt, event });
  return begun && { ...begun, updatedAt, status: statusFromRow(row) };
}

const UNREADABLE = 'The events of this task are damaged.';

function statusFromRow({ state, principal, updatedAt, deadline }: TaskRow): SnapshotStatus {
  const expiresAt = deadline === null ? null : new Date(deadline).toISOString();
  switch (state) {
    case 'submitted':
    case 'working':
    case 'completed':
      return { state };
    case 'input-required':
      return { state, since: updatedAt, pending: [], expiresAt };
    case 'auth-required':
      return { state, since: updatedAt, question: UNREADABLE, expiresAt };
    case 'failed':
    case 'rejected':
      return { state, message: UNREADABLE };
    case 'canceled':
      return { state, reason: UNREADABLE, by: { principal, channel: 'unknown' } };
  }
}

/** Creates the event that tells readers that a new task waits in the queue for a slot. Pure. */
import type { CountsByScope } from '../../limits/limits.ts';
import type { TaskEvent } from '../../task/events.ts';
import type { Snapshot } from '../../task/snapshot.ts';

/**
 * Returns the event that names the task's place in the queue. Returns nothing if the task has begun or ended.
 * @param ahead the number of tasks of the same principal that go first
 */
export function queuePositionEvents({ status }: Snapshot, ahead: number, limit: CountsByScope): TaskEvent[] {
  if (status.state !== 'submitted') return [];
  const place =
    ahead === 0
      ? 'It is the next of your tasks'
      : `${String(ahead)} of your tasks ${ahead === 1 ? 'goes' : 'go'} first`;
  const text = `The task waits for its turn. ${place}. This server runs ${String(limit.server)} tasks at a time, and ${String(limit.principal)} of one user.`;
  return [{ type: 'task.queued', ahead, text }];
}

/**
 * Finds the tasks that no server can claim, because none can open their workspace. A server does not know the others'
 * directories, so it waits: another server claims what it can open within a few seconds. Pure.
 */
import type { UnopenedTask } from '../journal/ownership.ts';
import type { TaskEvent } from '../task/events.ts';
import { progressNoteOf, type Snapshot } from '../task/snapshot.ts';

/**
 * The time for another server to claim a task, in milliseconds. It is longer than a lease. At the end of a dead
 * server's lease, another server claims its tasks.
 */
const CLAIM_WITHIN_MS = 10_000;

/** The time at which this server first found each unopened task, in milliseconds since 1970. */
export type FirstFoundTimes = ReadonlyMap<string, number>;

/** Returns the tasks that no server has opened, with the time at which this server first found each of them. */
export function updateFirstFoundTimes(
  before: FirstFoundTimes,
  tasks: readonly UnopenedTask[],
  now: number,
): FirstFoundTimes {
  return new Map(tasks.map(({ taskId }) => [taskId, before.get(taskId) ?? now]));
}

/** True if every server has had enough time to claim the task. */
export function isTooLateToClaim(found: FirstFoundTimes, taskId: string, now: number): boolean {
  return now - (found.get(taskId) ?? now) >= CLAIM_WITHIN_MS;
}

/**
 * Returns the event with the reason why the task waits. Returns nothing if the journal already has the event, or if the
 * task is not in the state `working`.
 */
export function workspaceUnavailableEvents(
  snapshot: Snapshot,
  { workspace, label }: Pick<UnopenedTask, 'workspace' | 'label'>,
): TaskEvent[] {
  const servers = label === null ? 'server' : `server with the label ${label}`;
  const text = `The task waits: no running ${servers} can open its workspace ${workspace}. Start a server that can, or cancel the task.`;
  if (snapshot.status.state !== 'working' || progressNoteOf(snapshot) === text) return [];
  return [{ type: 'workspace.unavailable', workspace, text }];
}

/**
 * Finds the tasks that no server can claim, because none can open their workspace (R119). A server does not know the
 * others' directories, so it waits: another server claims what it can open within a few seconds. Pure.
 */
import type { UnopenedTask } from '../journal/ownership.ts';
import type { TaskEvent } from '../task/events.ts';
import { progressNoteOf, type Snapshot } from '../task/snapshot.ts';

/** In milliseconds. Longer than a lease, after which another server claims the tasks of a dead one. */
const PATIENCE_MS = 10_000;

/** When this server has first found each task unopened, in milliseconds since 1970. */
export type FoundAt = ReadonlyMap<string, number>;

/** Returns the tasks that are found now, with the time at which they were first found. */
export function stillUnopened(before: FoundAt, tasks: readonly UnopenedTask[], now: number): FoundAt {
  return new Map(tasks.map(({ taskId }) => [taskId, before.get(taskId) ?? now]));
}

/** True if every server had the time to claim the task. */
export function isStranded(found: FoundAt, taskId: string, now: number): boolean {
  return now - (found.get(taskId) ?? now) >= PATIENCE_MS;
}

/** Returns the event that tells the reason. Returns nothing if the journal already has it, or if the task does not work. */
export function unavailableEvents(
  snapshot: Snapshot,
  { workspace, label }: Pick<UnopenedTask, 'workspace' | 'label'>,
): TaskEvent[] {
  const servers = label === null ? 'server' : `server with the label ${label}`;
  const text = `The task waits: no running ${servers} can open its workspace ${workspace}. Start a server that can, or cancel the task.`;
  if (snapshot.status.state !== 'working' || progressNoteOf(snapshot) === text) return [];
  return [{ type: 'workspace.unavailable', workspace, text }];
}

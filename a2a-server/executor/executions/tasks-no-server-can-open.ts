/**
 * Finds the tasks that no server can claim, because none can open their workspace. A server does not know the
 * directories of the other servers. So it waits a few seconds, in which each other server claims the tasks whose
 * workspace it can open. Pure.
 */
import type { UnclaimableTask } from '../../journal/ownership.ts';
import type { TaskEvent } from '../../task/events.ts';
import { modelNotOfferedText } from '../../task/model-outage.ts';
import { progressNoteOf, type Snapshot } from '../../task/snapshot.ts';

/**
 * The time for another server to claim a task, in milliseconds. It is longer than a lease, because the tasks of a
 * dead server can be claimed only after its lease.
 */
const CLAIM_WITHIN_MS = 10_000;

/**
 * The maximum number of tasks that one search checks. A check reads the task. The next search waits for the end of all
 * checks.
 */
const MAX_CHECKS = 50;

/** Times in milliseconds since 1970. */
interface UnopenedTimes {
  /** The time at which this server first found the task. */
  foundAt: number;
  /** The time at which this server last checked that the task says why it waits. At first, this is `foundAt`. */
  checkedAt: number;
}

/** The tasks that no server has opened, by task id: when this server first found each, and when it last checked it. */
export type UnopenedTaskTimes = ReadonlyMap<string, UnopenedTimes>;

interface UnopenedSearch {
  unopened: UnopenedTaskTimes;
  /** The tasks to check now. */
  due: readonly UnclaimableTask[];
}

/**
 * Returns the unopened tasks after a search, and the tasks to check now. A task is due if every server has had enough
 * time to claim it. The tasks without a check for the longest time come first, so that no task is left out forever.
 */
export function unopenedTasksAfterSearch(
  before: UnopenedTaskTimes,
  tasks: readonly UnclaimableTask[],
  now: number,
): UnopenedSearch {
  const timesOf = ({ taskId }: UnclaimableTask): UnopenedTimes =>
    before.get(taskId) ?? { foundAt: now, checkedAt: now };
  const due = tasks
    .filter((task) => now - timesOf(task).foundAt >= CLAIM_WITHIN_MS)
    .toSorted((one, other) => timesOf(one).checkedAt - timesOf(other).checkedAt)
    .slice(0, MAX_CHECKS);
  const unopened = new Map(tasks.map((task) => [task.taskId, timesOf(task)]));
  for (const task of due) unopened.set(task.taskId, { ...timesOf(task), checkedAt: now });
  return { unopened, due };
}

/**
 * Returns the event with the reason why the task waits. Returns nothing if the task already says so, or is not
 * `working`. If a server that can open the workspace has said that it does not offer the model, that text stays.
 */
export function workspaceUnavailableEvents(
  snapshot: Snapshot,
  { workspace, label }: Pick<UnclaimableTask, 'workspace' | 'label'>,
): TaskEvent[] {
  const servers = label === null ? 'server' : `server with the label ${label}`;
  const text = `The task waits: no running ${servers} can open its workspace ${workspace}. Start a server that can, or cancel the task.`;
  const note = progressNoteOf(snapshot);
  if (snapshot.status.state !== 'working' || note === text || note === modelNotOfferedText(snapshot))
    return [];
  return [{ type: 'workspace.unavailable', workspace, text }];
}

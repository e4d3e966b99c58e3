/** Reads the tasks of an agent page by page (A2A 1.0 §3.1.4, ListTasks). */
import { TaskState } from '@a2a-js/sdk';
import type { ListTasksRequest, ListTasksResponse, Task } from '@a2a-js/sdk';
import { TASK_STATE_CODES } from '../../shared/protocol/task-state-codes.ts';
import type { NonTerminalTaskState } from '../../shared/protocol/task-states.ts';

export interface TaskQuery {
  sessionId?: string;
  state?: NonTerminalTaskState;
}

/** A list of tasks, newest first. */
export interface ListedTasks {
  tasks: readonly Task[];
  /** The number of all matching tasks, as the agent reports it. Never lower than the number of `tasks`. */
  total: number;
}

/** The maximum number of tasks in one list. An agent may send pages without end. */
const MAX_TASKS = 10_000;
/** The maximum page size (A2A 1.0 §3.1.4). */
const PAGE_SIZE = 100;
/**
 * The number of history messages to fetch with each task. The bridge looks in these messages for the title of the task,
 * and for a message whose response was lost.
 */
const HISTORY_MESSAGES = 20;

/** Reads pages until the list has `limit` tasks, or until the last page. @throws any error of `request` */
export async function listTasksOfAgent(
  request: (params: ListTasksRequest) => Promise<ListTasksResponse>,
  { sessionId = '', state }: TaskQuery,
  limit = MAX_TASKS,
): Promise<ListedTasks> {
  // The map removes duplicates, because a task that changes between two requests may appear on two pages.
  const found = new Map<string, Task>();
  let total = 0;
  for (let pageToken = ''; found.size < limit;) {
    const page = await request({
      tenant: '',
      contextId: sessionId,
      status: state === undefined ? TaskState.TASK_STATE_UNSPECIFIED : TASK_STATE_CODES[state],
      pageSize: Math.min(PAGE_SIZE, limit - found.size),
      pageToken,
      historyLength: HISTORY_MESSAGES,
      statusTimestampAfter: undefined,
      includeArtifacts: false,
    });
    const before = found.size;
    for (const task of page.tasks) found.set(task.id, task);
    total = page.totalSize;
    pageToken = page.nextPageToken;
    if (pageToken === '' || found.size === before) break;
  }
  const tasks = filterTasksByState([...found.values()], state).slice(0, limit);
  return { tasks, total: Math.max(total, tasks.length) };
}

/** Returns the tasks in this state. An agent may ignore the filter in the request, so the bridge filters again. */
export function filterTasksByState(
  tasks: readonly Task[],
  state: NonTerminalTaskState | undefined,
): readonly Task[] {
  return state === undefined
    ? tasks
    : tasks.filter(({ status }) => status?.state === TASK_STATE_CODES[state]);
}

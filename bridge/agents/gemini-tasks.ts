/**
 * Lists the tasks of gemini-cli's a2a-server. A2A 0.3 has no method for this, so the bridge uses the agent's own `GET
 * /tasks/metadata`. That list contains only the tasks in the server's memory, without their times and titles.
 */
import type { Task } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import { z } from 'zod';
import { TASK_STATE_CODES } from '../../shared/protocol/task-state-codes.ts';
import { HttpError } from './http/request-errors.ts';
import { filterTasksByState, type ListedTasks, type TaskQuery } from './list-tasks.ts';
import { requestFailure } from './request-failure.ts';

const tasksMetadata = z.array(
  z.looseObject({ id: z.string(), contextId: z.string(), taskState: z.string() }),
);

/** The maximum number of listed tasks that the bridge fetches completely. */
const MAX_FETCHED_TASKS = 20;

const STATES: Readonly<Record<string, TaskState>> = TASK_STATE_CODES;

/**
 * Returns the agent's tasks, newest first. Returns null if the agent stores its tasks elsewhere and cannot list them.
 * @throws any error of `ask`
 */
export async function listGeminiTasks(
  url: string,
  ask: (url: URL) => Promise<Response>,
): Promise<readonly Task[] | null> {
  const response = await nullIfUnsupported(
    ask(new URL('tasks/metadata', url.endsWith('/') ? url : `${url}/`)),
  );
  if (response === null) return null;
  if (response.status === 204) return [];
  const parsed = tasksMetadata.safeParse(await response.json());
  if (!parsed.success) return null;
  return parsed.data.toReversed().map(({ id, contextId, taskState }) => ({
    id,
    contextId,
    status: {
      state: STATES[taskState] ?? TaskState.TASK_STATE_UNSPECIFIED,
      message: undefined,
      timestamp: undefined,
    },
    artifacts: [],
    history: [],
    metadata: undefined,
  }));
}

interface GeminiTaskSelection {
  query: TaskQuery;
  fetchTask: (taskId: string) => Promise<Task>;
  limit: number | undefined;
}

/**
 * Returns at most `limit` tasks that match the query. The agent's list omits pending calls, so `fetchTask` fetches the
 * first `MAX_FETCHED_TASKS` of these tasks completely.
 */
export async function selectGeminiTasks(
  all: readonly Task[],
  { query: { sessionId = '', state }, fetchTask, limit }: GeminiTaskSelection,
): Promise<ListedTasks> {
  const matching = filterTasksByState(all, state).filter(
    ({ contextId }) => sessionId === '' || contextId === sessionId,
  );
  const wanted = matching.slice(0, limit);
  const whole = wanted.slice(0, MAX_FETCHED_TASKS).map(({ id }) => fetchTask(id).catch(unlessUnknownTask));
  const known = [...(await Promise.all(whole)), ...wanted.slice(MAX_FETCHED_TASKS)];
  const tasks = known.filter((task) => task !== undefined);
  return { tasks, total: matching.length - (known.length - tasks.length) };
}

/** Throws the error of a request for a task, unless the agent has forgotten the task since it listed the task. */
function unlessUnknownTask(error: unknown): undefined {
  if (requestFailure(error, '').error.reason !== 'UNKNOWN_TASK') throw error;
}

/**
 * Returns null if the agent cannot list its tasks. It answers 501 if the tasks are in a storage bucket, and 404 if it
 * has no such URL.
 */
async function nullIfUnsupported(asked: Promise<Response>): Promise<Response | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof HttpError && (error.status === 501 || error.status === 404)) return null;
    throw error;
  }
}

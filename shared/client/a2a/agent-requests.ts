/**
 * Sends this client's requests to an A2A agent. It uses the HTTP+JSON binding of A2A 1.0, and this package's own routes
 * under `/api`.
 */
import { type AbortAnswer, abortAnswerSchema } from '../../protocol/abort-answer.ts';
import {
  AGENT_COMMAND_EXTENSION,
  LAST_EVENT_ID_HEADER,
  RESUMABLE_STREAM_EXTENSION,
  TOOL_APPROVAL_EXTENSION,
} from '../../protocol/extensions.ts';
import {
  costReportSchema,
  taskCostsSchema,
  type CostReport,
  type TaskCosts,
} from '../../protocol/cost-report.ts';
import { ClientError } from '../core/client-error.ts';
import { retryWithBackOff } from '../core/retry-policy.ts';
import type { RetryPolicy } from '../core/retry-policy.ts';
import type { HttpClient } from '../core/http-client.ts';
import { type ListedTask, type TaskList, toListedTask } from './listed-task.ts';
import type { SendMessageRequest } from './message.ts';
import { sendMessageResponseSchema, taskSchema, taskListSchema, runningToolsResponseSchema } from './wire.ts';
import type { WireTask } from './wire.ts';
import type * as z from 'zod/mini';

const A2A_HEADERS = {
  'A2A-Version': '1.0',
  'A2A-Extensions': [TOOL_APPROVAL_EXTENSION, RESUMABLE_STREAM_EXTENSION, AGENT_COMMAND_EXTENSION].join(','),
};

/** A2A 1.0 §3.1.4: the maximum number of tasks on one page. */
const PAGE_SIZE = 100;
/**
 * The states of a task that waits for a person. ListTasks filters by one state, so the client sends one request for
 * each.
 */
const WAITING_STATES = ['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED'];

export type ToolExecution = z.infer<typeof runningToolsResponseSchema>['tools'][number];

/**
 * The requests to one agent. If no response arrives, this class sends a request again. A repetition is safe: the server
 * recognizes a repeated message id (B1), and a second cancel or abort has no effect. This class does not repeat `task`
 * and the requests that open a stream, because their callers repeat them.
 */
export class AgentRequests {
  readonly #service: HttpClient;
  readonly #retryPolicy: RetryPolicy;

  constructor(service: HttpClient, retryPolicy: RetryPolicy) {
    this.#service = service;
    this.#retryPolicy = retryPolicy;
  }

  stream(body: SendMessageRequest, signal: AbortSignal): Promise<Response> {
    return this.#service.ask('/message:stream', { method: 'POST', headers: A2A_HEADERS, body, signal });
  }

  /** Returns the stream of the events after the cursor. */
  subscribe(taskId: string, cursor: number, signal: AbortSignal): Promise<Response> {
    const headers = { ...A2A_HEADERS, [LAST_EVENT_ID_HEADER]: String(cursor) };
    return this.#service.ask(`${taskPath(taskId)}:subscribe`, { method: 'GET', headers, signal });
  }

  task(taskId: string, signal: AbortSignal): Promise<WireTask> {
    return this.#service.askFor(taskSchema, taskPath(taskId), {
      method: 'GET',
      headers: A2A_HEADERS,
      signal,
    });
  }

  /** Sends a message. Does not wait for the end of its task. */
  async send(request: SendMessageRequest): Promise<void> {
    const body: SendMessageRequest = { ...request, configuration: { returnImmediately: true } };
    const ask = { method: 'POST', headers: A2A_HEADERS, body } as const;
    await this.#persist(() => this.#service.askFor(sendMessageResponseSchema, '/message:send', ask));
  }

  /** Cancels a task. Does not throw if the task has already ended. */
  async cancel(taskId: string, reason: string): Promise<void> {
    try {
      await this.#persist(() => this.#service.ask(...cancelOf(taskId, reason)));
    } catch (error) {
      if (!(error instanceof ClientError && error.reason === 'TASK_ENDED')) throw error;
    }
  }

  /** Sends a cancel while the page unloads. Does not wait for the response. */
  cancelLeaving(taskId: string, reason: string): void {
    const [path, ask] = cancelOf(taskId, reason);
    this.#service.ask(path, { ...ask, keepalive: true }).catch(() => undefined);
  }

  /**
   * Returns all tasks that wait for a person, then the newest other tasks.
   * @param count the maximum number of other tasks
   */
  async tasks(count: number): Promise<TaskList> {
    const waiting: ListedTask[] = [];
    for (const status of WAITING_STATES) waiting.push(...(await this.#list(Infinity, status)).tasks);
    const known = new Set(waiting.map(({ taskId }) => taskId));
    const { tasks, total } = await this.#list(count + waiting.length);
    const others = tasks.filter(({ taskId }) => !known.has(taskId)).slice(0, count);
    return { tasks: [...waiting, ...others], total: Math.max(total, waiting.length + others.length) };
  }

  async #list(count: number, status?: string): Promise<TaskList> {
    const tasks = new Map<string, ListedTask>();
    let total = 0;
    for (let pageToken = ''; tasks.size < count;) {
      const query = new URLSearchParams({ pageSize: String(Math.min(PAGE_SIZE, count - tasks.size)) });
      if (status !== undefined) query.set('status', status);
      if (pageToken !== '') query.set('pageToken', pageToken);
      const page = await this.#get(taskListSchema, `/tasks?${query.toString()}`, A2A_HEADERS);
      const known = tasks.size;
      for (const task of page.tasks) tasks.set(task.id, toListedTask(task));
      total = page.totalSize;
      pageToken = page.nextPageToken;
      // An agent may return the same page token forever. So the loop also ends when a page has no new task.
      if (pageToken === '' || tasks.size === known) break;
    }
    return { tasks: [...tasks.values()], total };
  }

  async tools(): Promise<readonly ToolExecution[]> {
    return (await this.#get(runningToolsResponseSchema, '/api/tools')).tools;
  }

  costs(days: number): Promise<CostReport> {
    return this.#get(costReportSchema, `/api/costs?days=${days}`);
  }

  taskCosts(taskId: string): Promise<TaskCosts> {
    return this.#get(taskCostsSchema, `/api/tasks/${encodeURIComponent(taskId)}/costs`);
  }

  abortTool(toolId: string, reason: string): Promise<AbortAnswer> {
    const path = `/api/tools/abort/${encodeURIComponent(toolId)}`;
    return this.#persist(() =>
      this.#service.askFor(abortAnswerSchema, path, { method: 'POST', body: { reason } }),
    );
  }

  #get<T>(schema: z.ZodMiniType<T>, path: string, headers: Record<string, string> = {}): Promise<T> {
    return this.#persist(() => this.#service.askFor(schema, path, { method: 'GET', headers }));
  }

  #persist<T>(act: () => Promise<T>): Promise<T> {
    return retryWithBackOff(act, this.#retryPolicy);
  }
}

function taskPath(taskId: string): string {
  return `/tasks/${encodeURIComponent(taskId)}`;
}

function cancelOf(taskId: string, reason: string) {
  return [
    `${taskPath(taskId)}:cancel`,
    { method: 'POST', headers: A2A_HEADERS, body: { metadata: { reason } } },
  ] as const;
}

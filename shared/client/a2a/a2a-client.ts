/** A client of one A2A agent over HTTP. It uses A2A 1.0 and this package's extensions. */
import type { CostReport, TaskCosts } from '../../protocol/cost-report.ts';
import { ActiveExecutions } from '../core/active-executions.ts';
import type { Execution, ExecutionOptions } from '../core/execution.ts';
import { newId } from '../core/new-id.ts';
import { pagehideTarget } from '../core/on-page-unload.ts';
import { CLIENT_RETRY_POLICY } from '../core/retry-policy.ts';
import { HttpClient } from '../core/http-client.ts';
import { type ClientOptions, DEFAULT_QUIET_MS } from '../core/client-options.ts';
import type { RunningTool, TaskReport } from '../core/task-report.ts';
import type { AbortAnswer } from '../../protocol/abort-answer.ts';
import type { CommandRequest, ToolRequest } from '../core/task-request.ts';
import { ActiveToolRequests } from '../core/tool-requests.ts';
import type { ExecuteToolOptions } from '../core/tool-requests.ts';
import { A2aTaskTransport } from './a2a-task-transport.ts';
import type { A2aTaskTransportOptions, A2aTaskBeginning } from './a2a-task-transport.ts';
import { AgentRequests } from './agent-requests.ts';
import type { ToolExecution } from './agent-requests.ts';
import type { TaskList } from './listed-task.ts';
import { CLIENT_LIBRARY_CHANNEL, commandMessage, newTaskMessage, toToolCommand } from './message.ts';
import type { A2aTaskRequest } from './message.ts';

export interface A2aClientOptions extends ClientOptions {
  /**
   * Names the user interface of this client, e.g. `page`. The server's journal records it with each decision. The
   * default is `client-library`.
   */
  channel?: string | undefined;
}

export class A2aClient {
  readonly #api: AgentRequests;
  readonly #transportOptions: A2aTaskTransportOptions;
  readonly #executions: ActiveExecutions;
  readonly #tools = new ActiveToolRequests();

  constructor({
    retryPolicy,
    quietMs = DEFAULT_QUIET_MS,
    page = pagehideTarget(),
    channel = CLIENT_LIBRARY_CHANNEL,
    ...service
  }: A2aClientOptions) {
    this.#transportOptions = { retryPolicy: { ...CLIENT_RETRY_POLICY, ...retryPolicy }, quietMs, channel };
    this.#api = new AgentRequests(
      new HttpClient({ ...service, quietMs }),
      this.#transportOptions.retryPolicy,
    );
    this.#executions = new ActiveExecutions(page);
  }

  /** This client's executions (tasks that it started or attached to) that have not ended. */
  get active(): readonly Execution[] {
    return this.#executions.active;
  }

  /** Starts a task. Never throws. `Execution.result` reports errors. */
  start(request: A2aTaskRequest, options: ExecutionOptions = {}): Execution {
    return this.#begin({ request: newTaskMessage(request, newId()) }, options);
  }

  /** Starts a task that makes one tool call, without a model. */
  startTool(request: ToolRequest, options: ExecutionOptions = {}): Execution {
    return this.startCommand(toToolCommand(request), options);
  }

  /** Starts a task that runs one command of the agent, without a model. */
  startCommand(request: CommandRequest, options: ExecutionOptions = {}): Execution {
    return this.#begin({ request: commandMessage(request, newId()) }, options);
  }

  /**
   * Calls one tool of the agent, and follows the tool call to its end. The promise settles like `Execution.result`.
   * @throws ClientError
   */
  executeTool(
    tool: string,
    input: ToolRequest['input'] = {},
    { workspace, ...options }: ExecuteToolOptions = {},
  ): Promise<TaskReport> {
    return this.#tools.run((all) => this.startTool({ tool, input, workspace }, all), options);
  }

  /** The tool executions that run in this client's tasks. */
  getActiveExecutions(): readonly RunningTool[] {
    return this.active.flatMap(({ report }) => report?.tools ?? []);
  }

  /**
   * Cancels the tasks of all `executeTool` calls.
   * @throws AggregateError if some cancels fail. The other tasks are still cancelled.
   */
  abortAllRequests(reason?: string): Promise<void> {
    return this.#tools.abortAll(reason);
  }

  /**
   * Follows an existing task, even if another client started it. The first report has the current state. If `after` is
   * the cursor of an earlier report, the client also receives every event after that cursor.
   */
  attach(task: { taskId: string; after?: number | undefined }, options: ExecutionOptions = {}): Execution {
    return this.#begin(task, options);
  }

  /**
   * Returns the tasks of the user that this client's token belongs to. All tasks that wait for a person come first. The
   * newest other tasks follow.
   * @param count the maximum number of other tasks
   * @throws ClientError
   */
  tasks(count = 50): Promise<TaskList> {
    return this.#api.tasks(count);
  }

  /** Returns the running tool executions of the user that this client's token belongs to. @throws ClientError */
  tools(): Promise<readonly ToolExecution[]> {
    return this.#api.tools();
  }

  /**
   * Returns the cost of this user's tasks, by UTC day, by session and by model.
   * @param days the number of days, including today
   * @throws ClientError
   */
  costs(days = 30): Promise<CostReport> {
    return this.#api.costs(days);
  }

  /** Returns the cost of each model turn and each conversation summary of a task, in order. @throws ClientError */
  taskCosts(taskId: string): Promise<TaskCosts> {
    return this.#api.taskCosts(taskId);
  }

  /** Aborts one tool execution. The task continues, and its model learns about the abort. @throws ClientError */
  abortTool(toolId: string, reason = 'aborted by the client'): Promise<AbortAnswer> {
    return this.#api.abortTool(toolId, reason);
  }

  /** Aborts the tool executions that run in this client's tasks. @throws ClientError */
  abortAllTools(reason?: string): Promise<readonly AbortAnswer[]> {
    return Promise.all(this.getActiveExecutions().map(({ toolId }) => this.abortTool(toolId, reason)));
  }

  /**
   * Cancels the tasks of this client's executions.
   * @throws AggregateError if some cancels fail. The other tasks are still cancelled.
   */
  cancelAll(reason?: string): Promise<void> {
    return this.#executions.cancelAll(reason);
  }

  #begin(beginning: A2aTaskBeginning, options: ExecutionOptions): Execution {
    return this.#executions.begin(
      new A2aTaskTransport(this.#api, this.#transportOptions, beginning),
      options,
    );
  }
}

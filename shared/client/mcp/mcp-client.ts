/** A client of the bridge, over MCP and HTTP. Its method `call` also works with other MCP servers. */
import { ActiveExecutions } from '../core/active-executions.ts';
import type { Execution, ExecutionOptions } from '../core/execution.ts';
import { pagehideTarget } from '../core/on-page-unload.ts';
import { CLIENT_RETRY_POLICY } from '../core/retry-policy.ts';
import { HttpClient } from '../core/http-client.ts';
import { type ClientOptions, DEFAULT_QUIET_MS } from '../core/client-options.ts';
import type { RunningTool, TaskReport } from '../core/task-report.ts';
import type { AbortAnswer } from '../../protocol/abort-answer.ts';
import type { ToolRequest } from '../core/task-request.ts';
import { ActiveToolRequests } from '../core/tool-requests.ts';
import type { ExecuteToolOptions } from '../core/tool-requests.ts';
import { BridgeToolCaller } from './bridge-tool-caller.ts';
import { McpConnection } from './mcp-connection.ts';
import type { McpClientInfo, RequestOptions } from './mcp-connection.ts';
import { BridgeTaskTransport } from './bridge-task-transport.ts';
import type { BridgeTaskBeginning, BridgeTaskRequest, BridgeToolRequest } from './bridge-task-transport.ts';
import type { McpCallResult, SessionToolExecution } from './session-report.ts';

const DEFAULT_STATUS_INTERVAL_MS = 10_000;

export interface McpClientOptions extends ClientOptions {
  /** The prefix of the bridge's tool names (the bridge's setting `--tool-prefix`). */
  toolPrefix?: string | undefined;
  /**
   * The interval at which the client requests the status of a task that waits for a person. MCP has no event for a
   * decision that another client sends. The default is 10 s.
   */
  statusIntervalMs?: number | undefined;
  /** The client's name and version. The server may log them. */
  identity?: McpClientInfo | undefined;
}

export class McpClient {
  readonly #connection: McpConnection;
  readonly #tools: BridgeToolCaller;
  readonly #executions: ActiveExecutions;
  readonly #requests = new ActiveToolRequests();
  readonly #begin: (beginning: BridgeTaskBeginning, options: ExecutionOptions) => Execution;

  /** @param options `url` is the MCP endpoint, e.g. `http://127.0.0.1:41243/mcp`. */
  constructor({
    retryPolicy,
    quietMs = DEFAULT_QUIET_MS,
    page = pagehideTarget(),
    toolPrefix = '',
    statusIntervalMs = DEFAULT_STATUS_INTERVAL_MS,
    identity = DEFAULT_IDENTITY,
    ...service
  }: McpClientOptions) {
    const policy = { ...CLIENT_RETRY_POLICY, ...retryPolicy };
    this.#connection = new McpConnection(new HttpClient(service), identity, quietMs);
    this.#tools = new BridgeToolCaller(this.#connection, toolPrefix, policy);
    this.#executions = new ActiveExecutions(page);
    this.#begin = (beginning, options) =>
      this.#executions.begin(new BridgeTaskTransport(this.#tools, statusIntervalMs, beginning), options);
  }

  /** This client's executions (tasks that it started or attached to) that have not ended. */
  get active(): readonly Execution[] {
    return this.#executions.active;
  }

  /** Delegates a task. Never throws. `Execution.result` reports errors. */
  start(request: BridgeTaskRequest, options: ExecutionOptions = {}): Execution {
    return this.#begin({ request }, options);
  }

  /** Starts a task that makes one tool call, without a model. */
  startTool(request: BridgeToolRequest, options: ExecutionOptions = {}): Execution {
    return this.#begin({ tool: request }, options);
  }

  /**
   * Calls one tool of an agent, and follows the tool call to its end. The promise settles like `Execution.result`.
   * @throws ClientError
   */
  executeTool(
    tool: string,
    input: ToolRequest['input'] = {},
    { workspace, agent, ...options }: ExecuteToolOptions & Pick<BridgeToolRequest, 'agent'> = {},
  ): Promise<TaskReport> {
    return this.#requests.run((all) => this.startTool({ tool, input, workspace, agent }, all), options);
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
    return this.#requests.abortAll(reason);
  }

  /** Follows an existing session, even if another client started it. The first report has the current state. */
  attach(session: { sessionId: string }, options: ExecutionOptions = {}): Execution {
    return this.#begin(session, options);
  }

  /**
   * Calls any MCP tool of the server. If the signal aborts, the client sends `notifications/cancelled`. A task that the
   * tool has started then continues. A result with `isError` is returned, not thrown.
   * @throws ClientError
   */
  call(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    options?: RequestOptions,
  ): Promise<McpCallResult> {
    return this.#tools.call(name, args, options);
  }

  /** Returns the running tool executions of all sessions of the bridge. @throws ClientError */
  tools(): Promise<readonly SessionToolExecution[]> {
    return this.#tools.tools();
  }

  /** Aborts one tool execution. The task continues, and its model learns about the abort. @throws ClientError */
  abortTool(toolId: string, reason = 'aborted by the client'): Promise<AbortAnswer> {
    return this.#tools.abortTool(toolId, reason);
  }

  /** Aborts the tool executions that run in this client's tasks. @throws ClientError */
  async abortAllTools(reason?: string): Promise<readonly AbortAnswer[]> {
    const sessions = this.active.flatMap(({ report }) => (report === undefined ? [] : [report.sessionId]));
    const running = await Promise.all(sessions.map((sessionId) => this.#tools.toolsOf(sessionId)));
    return Promise.all(running.flat().map(({ toolId }) => this.abortTool(toolId, reason)));
  }

  /**
   * Cancels the tasks of this client's executions.
   * @throws AggregateError if some cancels fail. The other tasks are still cancelled.
   */
  cancelAll(reason?: string): Promise<void> {
    return this.#executions.cancelAll(reason);
  }

  /** Ends the MCP session. Tasks continue. @throws ClientError */
  close(): Promise<void> {
    return this.#connection.close();
  }
}

const DEFAULT_IDENTITY: McpClientInfo = { name: 'mcp-a2a-bridge/client', version: '1' };

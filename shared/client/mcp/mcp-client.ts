/** A client of the bridge over HTTP, in the words of MCP; of any other MCP server, as far as plain calls go. */
import { Executions } from '../executions.ts';
import type { Execution, ExecutionOptions } from '../execution.ts';
import { thisPage } from '../page-watch.ts';
import { PATIENCE } from '../patience.ts';
import { Service } from '../service.ts';
import type { ClientOptions } from '../client-options.ts';
import type { AbortAnswer } from '../task-request.ts';
import { BridgeTools } from './bridge-tools.ts';
import { McpConnection } from './mcp-connection.ts';
import type { Identity, RequestOptions } from './mcp-connection.ts';
import { McpLine } from './mcp-line.ts';
import type { Beginning, BridgeTaskRequest } from './mcp-line.ts';
import type { CallResult, SessionTool } from './session-report.ts';

export interface McpClientOptions extends ClientOptions {
  /** What the bridge's tools are called by before their names (its setting `--tool-prefix`). */
  toolPrefix?: string | undefined;
  /** Who this is, for the server's log. */
  identity?: Identity | undefined;
}

export class McpClient {
  readonly #connection: McpConnection;
  readonly #tools: BridgeTools;
  readonly #executions: Executions;
  readonly #begin: (beginning: Beginning, options: ExecutionOptions) => Execution;

  /** The address is that of the MCP endpoint, e.g. `http://127.0.0.1:41243/mcp`. */
  constructor({
    patience,
    page = thisPage(),
    toolPrefix = '',
    identity = SELF,
    ...service
  }: McpClientOptions) {
    const patient = { ...PATIENCE, ...patience };
    this.#connection = new McpConnection(new Service(service), identity, patient.quietMs);
    this.#tools = new BridgeTools(this.#connection, toolPrefix, patient);
    this.#executions = new Executions(page);
    this.#begin = (beginning, options) =>
      this.#executions.begin(new McpLine(this.#tools, patient, beginning), options);
  }

  /** The executions of this client that have not ended. */
  get active(): readonly Execution[] {
    return this.#executions.active;
  }

  /** Delegates a task. Nothing is thrown here: see the execution's result. */
  start(request: BridgeTaskRequest, options: ExecutionOptions = {}): Execution {
    return this.#begin({ request }, options);
  }

  /** Comes back to a session, be it another page's or another day's. Told first is where it stands. */
  attach(session: { sessionId: string }, options: ExecutionOptions = {}): Execution {
    return this.#begin(session, options);
  }

  /**
   * Calls any tool of the server. Aborting the signal takes the call back (`notifications/cancelled`); a task that it has
   * begun goes on. A result that says `isError` is returned, not thrown.
   * @throws ClientError
   */
  call(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    options?: RequestOptions,
  ): Promise<CallResult> {
    return this.#tools.call(name, args, options);
  }

  /** The tool executions that run, of every session the bridge knows. @throws ClientError */
  tools(): Promise<readonly SessionTool[]> {
    return this.#tools.tools();
  }

  /** Stops one tool execution; its task goes on, and its model is told. @throws ClientError */
  abortTool(toolId: string, reason = 'aborted by the client'): Promise<AbortAnswer> {
    return this.#tools.abortTool(toolId, reason);
  }

  /** Stops the tool executions of this client's own executions. @throws ClientError */
  async abortAllTools(reason?: string): Promise<readonly AbortAnswer[]> {
    const sessions = this.active.flatMap(({ report }) => (report === undefined ? [] : [report.sessionId]));
    const running = await Promise.all(sessions.map((sessionId) => this.#tools.toolsOf(sessionId)));
    return Promise.all(running.flat().map(({ toolId }) => this.abortTool(toolId, reason)));
  }

  /** Ends the tasks of this client's own executions. @throws AggregateError when some could not be; the others were */
  cancelAll(reason?: string): Promise<void> {
    return this.#executions.cancelAll(reason);
  }

  /** Ends the MCP session. Tasks go on. @throws ClientError */
  close(): Promise<void> {
    return this.#connection.close();
  }
}

const SELF: Identity = { name: 'mcp-a2a-bridge/client', version: '1' };

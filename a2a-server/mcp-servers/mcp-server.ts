/**
 * Keeps one configured MCP server connected while this process runs.
 *
 * - While the server is disconnected, its tools stay in the tool list. A call then waits a short time for the
 *   connection.
 * - An idle connection that does not answer pings is closed.
 * - This class reconnects after a disconnect. The delay grows with each failed attempt.
 * - If a tool call ran during the disconnect and a second run is safe, the call runs again. Otherwise the call fails
 *   with an explanation.
 * - After `close`, no socket, timer or process is left.
 */
import { setMaxListeners } from 'node:events';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import { onAbort } from '../../shared/runtime/abort.ts';
import { Deferred } from '../../shared/runtime/deferred.ts';
import { randomBackOffDelay } from '../../shared/runtime/back-off.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import { startTimeout, delay } from '../runtime/timeout.ts';
import type { ChildProcessRecords } from '../processes/child-process-records.ts';
import type { ToolServerView } from '../../shared/protocol/tool-approval.ts';
import type { Tool } from '../tools/tool.ts';
import type { McpServerToolResult } from './call-result.ts';
import { callUntilAnswered, type McpCallContext } from './call-until-answered.ts';
import type { McpServerConnection } from './connection.ts';
import type { ConnectAttempt } from './transport-and-handshake.ts';
import { pingUntilDead } from './ping-until-dead.ts';
import { createMcpTool } from './mcp-tool.ts';
import type { McpServerConfig } from './server-settings.ts';
import { McpServerStateStore } from './server-state.ts';
import type { McpToolDefinition } from './tool-list.ts';
import type { McpTransportContext } from './transports/server-transport.ts';

/**
 * The minimum duration of a stable connection. After such a connection, the delay before the next attempt is the
 * shortest one again.
 */
const STABLE_MS = 30_000;
const REFRESH_MS = 200;

export interface McpServerTimings {
  /** The time limit for a server to connect. A second limit of the same length applies to the tool list. */
  connectMs: number;
  /** The shortest and the longest delay between two connection attempts. */
  firstMs: number;
  mostMs: number;
  /** The time that a tool call waits for a disconnected server. */
  awayMs: number;
}

export const DEFAULT_MCP_SERVER_TIMINGS: McpServerTimings = {
  connectMs: 60_000,
  firstMs: 1_000,
  mostMs: 60_000,
  awayMs: 15_000,
};

interface McpServerContext extends Omit<McpTransportContext, 'child'> {
  limits: McpServerTimings;
  children: ChildProcessRecords;
  onChange: () => void;
}

export class McpServer {
  readonly name: string;
  readonly #entry: McpServerConfig;
  readonly #context: McpServerContext;
  readonly #log: Logger;
  readonly #life = new AbortController();
  readonly #state: McpServerStateStore;
  /** The transport and the handshake of the last successful connection. Undefined after a failed attempt. */
  #attempt: ConnectAttempt | undefined;
  #tools: readonly Tool[] = [];
  #problems: readonly string[] = [];
  /** Text about a server that runs a tool call and answers no pings. Null if the server answers pings. */
  #silent: string | null = null;
  #running: Promise<void> | undefined;
  #refreshing = { wanted: false, busy: false };

  constructor(name: string, entry: McpServerConfig, context: McpServerContext) {
    this.name = name;
    this.#entry = entry;
    this.#context = context;
    this.#log = context.log.child({ mcpServer: name });
    this.#state = new McpServerStateStore(this.#life.signal, context.onChange);
    // Each list request and each waiting tool call adds a listener. Node would otherwise warn about too many listeners.
    setMaxListeners(0, this.#life.signal);
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  get status(): ToolServerView {
    const state = this.#state.current;
    const problems = this.#silent === null ? this.#problems : [this.#silent, ...this.#problems];
    const error = state.type === 'down' ? state.error : problems.join('; ');
    return { name: this.name, state: state.type, tools: this.#tools.length, ...(error !== '' && { error }) };
  }

  /** Starts to connect. Resolves after the first attempt, even if it failed. */
  start(): Promise<void> {
    this.#running ??= this.#stayConnected();
    return this.#state.waitFor((state) => state.type !== 'starting', new AbortController().signal);
  }

  async close(): Promise<void> {
    this.#life.abort();
    this.#state.wakeCalls();
    await this.#running;
  }

  async #stayConnected(): Promise<void> {
    const { clock, limits } = this.#context;
    const { signal } = this.#life;
    for (let failures = 0; !signal.aborted;) {
      const begun = clock.elapsed();
      const error = await this.#connectOnce();
      if (signal.aborted) return;
      failures = clock.elapsed() - begun > STABLE_MS ? 1 : failures + 1;
      const waitMs = randomBackOffDelay(failures, limits, Math.random());
      this.#log.warn({ error, againInMs: Math.round(waitMs) }, 'an MCP server is down');
      this.#state.set({ type: 'down', error });
      await delay(clock, waitMs, signal).catch(() => undefined);
    }
  }

  /**
   * Connects, and waits until the connection ends. Returns the reason of the failure or of the end. No socket or
   * process is left open.
   */
  async #connectOnce(): Promise<string> {
    const { signal } = this.#life;
    const over = new AbortController();
    let connection: McpServerConnection | undefined;
    try {
      const end = new Deferred<string>();
      connection = await this.#connect((why) => end.resolve(why));
      await this.#updateTools(connection);
      this.#state.set({ type: 'ready', connection });
      this.#log.info(
        { revision: connection.revision, tools: this.#tools.length, problems: this.#problems },
        'an MCP server is ready',
      );
      if (this.#refreshing.wanted) this.#refreshTools();
      const stopListening = onAbort(signal, () => end.resolve('was closed'));
      void this.#keepAlive(connection, over.signal, (dead) => end.resolve(dead));
      const error = await end.promise;
      stopListening();
      // The state changes before the clean-up, so no tool call uses the ended connection.
      this.#silent = null;
      this.#state.set({ type: 'down', error });
      return error;
    } catch (error) {
      this.#attempt = undefined;
      return errorMessageOf(error);
    } finally {
      over.abort();
      await connection?.close().catch(() => undefined);
    }
  }

  async #connect(onClosed: (why: string) => void): Promise<McpServerConnection> {
    // This import takes a third of a second, so it runs only on demand.
    const { connectToMcpServer } = await import('./connect.ts');
    const options = {
      ...this.#context,
      server: this.name,
      connectMs: this.#connectMs,
      log: this.#log,
      child: this.#context.children.entry({ type: 'mcp-server', server: this.name }),
      signal: this.#life.signal,
      onClosed,
      onListChanged: () => this.#refreshTools(),
    };
    const { connection, attempt } = await connectToMcpServer(this.#entry, options, this.#attempt);
    this.#attempt = attempt;
    return connection;
  }

  async #keepAlive(
    connection: McpServerConnection,
    signal: AbortSignal,
    onDead: (why: string) => void,
  ): Promise<void> {
    const { clock } = this.#context;
    const { pingInterval: pingMs, pingTimeout: answerMs } = this.#entry;
    const onSilent = (problem: string | null): void => this.#setSilent(problem);
    const dead = await pingUntilDead(connection, { clock, pingMs, answerMs, signal, onSilent });
    if (dead !== undefined) onDead(dead);
  }

  get #connectMs(): number {
    return this.#entry.connectTimeout ?? this.#context.limits.connectMs;
  }

  #setSilent(problem: string | null): void {
    this.#silent = problem;
    this.#log.warn({ problem }, problem === null ? 'an MCP server answers again' : 'an MCP server is silent');
    this.#state.wakeCalls();
  }

  /** Calls a tool. @throws Error with the server's name, for a model; AbortError if the signal aborts */
  async call(
    tool: string,
    input: Record<string, unknown>,
    run: McpCallContext,
  ): Promise<McpServerToolResult> {
    const begun = this.#context.clock.elapsed();
    const answeredLate: McpCallContext['answeredLate'] = (result) => {
      const ms = Math.round(this.#context.clock.elapsed() - begun);
      this.#log.info({ tool, toolId: run.toolId, afterMs: ms }, 'an MCP server has answered a stopped call');
      run.answeredLate(result);
    };
    return callUntilAnswered(this.name, () => this.#readyConnection(run.signal), {
      tool,
      input,
      run: { ...run, answeredLate },
    });
  }

  /** Returns the connection. If the server is disconnected, waits a short time for the next connection. */
  async #readyConnection(signal: AbortSignal): Promise<McpServerConnection> {
    const { clock, limits } = this.#context;
    const limit = startTimeout(clock, limits.awayMs, signal);
    await this.#state.waitFor((state) => state.type === 'ready', limit.signal);
    limit.clear();
    signal.throwIfAborted();
    const state = this.#state.current;
    if (state.type === 'ready') return state.connection;
    const why = state.type === 'down' ? state.error : 'it is still starting';
    throw new Error(
      `The MCP server ${this.name} is not connected: ${why}. The server retries automatically; call the tool again later.`,
    );
  }

  /** Reads the tool list, and replaces the tools. @throws Error if the server refuses or is too slow */
  async #updateTools(connection: McpServerConnection): Promise<void> {
    const connectMs = this.#connectMs;
    const limit = startTimeout(this.#context.clock, connectMs, this.#life.signal);
    try {
      const { definitions, problems } = await connection.list((name) => this.#isWanted(name), limit.signal);
      this.#tools = definitions.map((definition) => this.#toolOf(definition));
      this.#problems = problems;
    } catch (error) {
      if (!limit.signal.aborted) throw error;
      throw new Error(`did not list its tools within ${connectMs / 1000} s`, { cause: error });
    } finally {
      limit.clear();
    }
  }

  #toolOf(definition: McpToolDefinition): Tool {
    const { trust, trustHints, timeout, idleTimeout: idleMs } = this.#entry;
    const believed = trust || trustHints;
    const repeatable = believed && (definition.hints.readOnly || definition.hints.idempotent);
    return createMcpTool({
      server: this.name,
      definition,
      trustHints: believed,
      timeoutMs: timeout,
      call: (input, run) => this.call(definition.name, input, { ...run, idleMs, repeatable }),
    });
  }

  #isWanted(name: string): boolean {
    const { include, exclude } = this.#entry.tools;
    return (include?.includes(name) ?? true) && !exclude.includes(name);
  }

  /** Reads the tool list again. If the list changes during the read, reads it once more. */
  #refreshTools(): void {
    this.#refreshing.wanted = true;
    if (this.#refreshing.busy) return;
    this.#refreshing.busy = true;
    void this.#updateToolsUntilCurrent().finally(() => (this.#refreshing.busy = false));
  }

  async #updateToolsUntilCurrent(): Promise<void> {
    const { signal } = this.#life;
    while (this.#refreshing.wanted && !signal.aborted) {
      const state = this.#state.current;
      if (state.type !== 'ready') return;
      this.#refreshing.wanted = false;
      const { connection } = state;
      try {
        await this.#updateTools(connection);
        this.#log.info({ tools: this.#tools.length }, 'the tools of an MCP server have changed');
      } catch (error) {
        this.#problems = [`the server cannot read its changed tool list: ${errorMessageOf(error)}`];
      }
      this.#state.wakeCalls();
      await delay(this.#context.clock, REFRESH_MS, signal).catch(() => undefined);
    }
  }
}

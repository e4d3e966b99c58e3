/**
 * One configured MCP server, kept connected for as long as this process runs.
 *
 * - Its tools are known from its first list on, also while it is away: a call then waits a moment for it to come back.
 * - R82 A connection that is lost is made anew, after a wait that grows; a call that was under way fails and says so, or is
 *   made again where that changes nothing.
 * - R83 Closing leaves no socket, timer or process.
 */
import { setMaxListeners } from 'node:events';
import { messageOf } from '../../shared/errors.ts';
import { onAbort } from '../../shared/abort.ts';
import { Deferred } from '../../shared/client/deferred.ts';
import { waitAfter } from '../../shared/client/patience.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logging.ts';
import { pass } from '../../shared/pass.ts';
import type { ChildProcesses } from '../processes/child-processes.ts';
import type { ToolServerView } from '../../shared/protocol/tool-approval.ts';
import type { Tool } from '../tools/tool.ts';
import type { CallResult } from './call-result.ts';
import { callUntilAnswered, type CallRun } from './call-until-answered.ts';
import type { Connection } from './connection.ts';
import { elicit } from './elicitation.ts';
import { createMcpTool } from './mcp-tool.ts';
import type { McpServerEntry } from './server-settings.ts';
import type { ToolDefinition } from './tool-list.ts';

/** A server that was up for so long starts its waits anew, in milliseconds. */
const STABLE_MS = 30_000;
/** Lists that a server says have changed are read no more often than this, in milliseconds. */
const REFRESH_MS = 200;

export interface McpServerLimits {
  /** For a server to start and say what tools it has, in milliseconds. */
  connectMs: number;
  /** Waits between attempts to connect, in milliseconds: the first and the longest. */
  firstMs: number;
  mostMs: number;
  /** How long a call waits for a server that is away, in milliseconds. */
  awayMs: number;
}

export const DEFAULT_LIMITS: McpServerLimits = {
  connectMs: 60_000,
  firstMs: 1_000,
  mostMs: 60_000,
  awayMs: 15_000,
};

export interface McpServerContext {
  clock: Clock;
  log: Logger;
  limits: McpServerLimits;
  graceMs: number;
  environment: Readonly<Record<string, string | undefined>>;
  children: ChildProcesses;
  /** Told whenever its tools or its state have changed. */
  onChange: () => void;
}

type State =
  | { type: 'starting' }
  | { type: 'ready'; connection: Connection }
  /** Tried again, until it is closed. */
  | { type: 'down'; error: string };

export class McpServer {
  readonly name: string;
  readonly #entry: McpServerEntry;
  readonly #context: McpServerContext;
  readonly #log: Logger;
  readonly #life = new AbortController();
  readonly #waiting = new Set<() => void>();
  /** How to reach the person behind each call under way. */
  readonly #asks = new Set<CallRun['ask']>();
  #state: State = { type: 'starting' };
  #tools: readonly Tool[] = [];
  #problems: readonly string[] = [];
  #running: Promise<void> | undefined;
  #refreshing = { wanted: false, busy: false };

  constructor(name: string, entry: McpServerEntry, context: McpServerContext) {
    this.name = name;
    this.#entry = entry;
    this.#context = context;
    this.#log = context.log.child({ mcpServer: name });
    // Every page that is read and every call that waits listens to it, as many as there are.
    setMaxListeners(0, this.#life.signal);
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  get status(): ToolServerView {
    const { type } = this.#state;
    const error = this.#state.type === 'down' ? this.#state.error : this.#problems.join('; ');
    return { name: this.name, state: type, tools: this.#tools.length, ...(error !== '' && { error }) };
  }

  /** Begins to connect. @returns when the first attempt is over, however it went. */
  start(): Promise<void> {
    this.#running ??= this.#stayConnected();
    return this.#changed((state) => state.type !== 'starting', new AbortController().signal);
  }

  async close(): Promise<void> {
    this.#life.abort();
    this.#tell();
    await this.#running;
  }

  async #stayConnected(): Promise<void> {
    const { clock, limits } = this.#context;
    const { signal } = this.#life;
    for (let failures = 0; !signal.aborted;) {
      const begun = clock.now();
      const error = await this.#connectOnce();
      if (signal.aborted) return;
      failures = clock.now() - begun > STABLE_MS ? 1 : failures + 1;
      const waitMs = waitAfter(failures, limits, Math.random());
      this.#log.warn({ error, againInMs: Math.round(waitMs) }, 'an MCP server is down');
      this.#set({ type: 'down', error });
      await pass(clock, waitMs, signal).catch(() => undefined);
    }
  }

  /** @returns why there is no connection, or no longer one; nothing of it is left then. */
  async #connectOnce(): Promise<string> {
    const { signal } = this.#life;
    let connection: Connection | undefined;
    try {
      // A third of a second's reading for whoever has no such server.
      const { connect } = await import('./connection.ts');
      const end = new Deferred<string>();
      connection = await connect(this.#entry, {
        ...this.#context,
        ...this.#context.limits,
        log: this.#log,
        child: this.#context.children.entry({ type: 'mcp-server', server: this.name }),
        signal,
        onClosed: (why) => end.resolve(why),
        onListChanged: () => this.#refresh(),
        onElicit: (params, withdrawn) =>
          elicit(
            this.name,
            params,
            [...this.#asks].map((ask) => (question) => ask(question, { signal: withdrawn })),
          ),
      });
      await this.#read(connection);
      this.#set({ type: 'ready', connection });
      this.#log.info({ tools: this.#tools.length, problems: this.#problems }, 'an MCP server is ready');
      if (this.#refreshing.wanted) this.#refresh();
      const stopListening = onAbort(signal, () => end.resolve('was closed'));
      const error = await end.promise;
      stopListening();
      // Before the rest of it is cleared away: nobody is to call over what has ended.
      this.#set({ type: 'down', error });
      return error;
    } catch (error) {
      return messageOf(error);
    } finally {
      await connection?.close().catch(() => undefined);
    }
  }

  /** Calls a tool. @throws Error that names the server, for a model to read; AbortError when the signal aborts. */
  async call(tool: string, input: Record<string, unknown>, run: CallRun): Promise<CallResult> {
    // One for each call, also when two of one task ask in the same way.
    const ask: CallRun['ask'] = (question, options) => run.ask(question, options);
    this.#asks.add(ask);
    try {
      return await callUntilAnswered(this.name, () => this.#connection(run.signal), { tool, input, run });
    } finally {
      this.#asks.delete(ask);
    }
  }

  /** The connection, waited for a moment where there is none. */
  async #connection(signal: AbortSignal): Promise<Connection> {
    const { clock, limits } = this.#context;
    const patience = new AbortController();
    const callOff = clock.after(limits.awayMs, () => patience.abort());
    const stopListening = onAbort(signal, () => patience.abort());
    try {
      await this.#changed((state) => state.type === 'ready', patience.signal);
    } finally {
      callOff();
      stopListening();
    }
    signal.throwIfAborted();
    if (this.#state.type === 'ready') return this.#state.connection;
    const why = this.#state.type === 'down' ? this.#state.error : 'it has not started yet';
    throw new Error(`The MCP server ${this.name} is not connected: ${why}. It is tried again by itself.`);
  }

  /** @throws Error for a list that cannot be read, in time. */
  async #read(connection: Connection): Promise<void> {
    const { clock, limits } = this.#context;
    const time = new AbortController();
    const callOff = clock.after(limits.connectMs, () => time.abort());
    const stopListening = onAbort(this.#life.signal, () => time.abort());
    try {
      const { definitions, problems } = await connection.list((name) => this.#isWanted(name), time.signal);
      this.#tools = definitions.map((definition) => this.#toolOf(definition));
      this.#problems = problems;
    } catch (error) {
      if (!time.signal.aborted) throw error;
      throw new Error(`did not list its tools within ${limits.connectMs / 1000} s`, { cause: error });
    } finally {
      callOff();
      stopListening();
    }
  }

  #toolOf(definition: ToolDefinition): Tool {
    const { trust, trustHints, timeout } = this.#entry;
    const believed = trust || trustHints;
    const repeatable = believed && (definition.hints.readOnly || definition.hints.idempotent);
    return createMcpTool({
      server: this.name,
      definition,
      trustHints: believed,
      timeoutMs: timeout,
      call: (input, run) => this.call(definition.name, input, { ...run, repeatable }),
    });
  }

  #isWanted(name: string): boolean {
    const { include, exclude } = this.#entry.tools;
    return (include?.includes(name) ?? true) && !exclude.includes(name);
  }

  /** Reads the list again; what is said while it is read makes for one more reading. */
  #refresh(): void {
    this.#refreshing.wanted = true;
    if (this.#refreshing.busy) return;
    this.#refreshing.busy = true;
    void this.#readAgain().finally(() => (this.#refreshing.busy = false));
  }

  async #readAgain(): Promise<void> {
    const { signal } = this.#life;
    while (this.#refreshing.wanted && this.#state.type === 'ready' && !signal.aborted) {
      this.#refreshing.wanted = false;
      const { connection } = this.#state;
      try {
        await this.#read(connection);
        this.#log.info({ tools: this.#tools.length }, 'the tools of an MCP server have changed');
      } catch (error) {
        this.#problems = [`its list of tools has changed and could not be read: ${messageOf(error)}`];
      }
      this.#tell();
      await pass(this.#context.clock, REFRESH_MS, signal).catch(() => undefined);
    }
  }

  #set(state: State): void {
    this.#state = state;
    this.#tell();
  }

  #tell(): void {
    this.#context.onChange();
    for (const look of this.#waiting) look();
  }

  /** Resolves when the state is as asked for, the signal aborts, or this is closed. */
  #changed(is: (state: State) => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      let stopListening: (() => void) | undefined;
      const look = (): void => {
        if (!is(this.#state) && !signal.aborted && !this.#life.signal.aborted) return;
        this.#waiting.delete(look);
        stopListening?.();
        resolve();
      };
      this.#waiting.add(look);
      stopListening = onAbort(signal, look);
      look();
    });
  }
}

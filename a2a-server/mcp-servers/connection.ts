/** Represents one connection to an MCP server after the handshake. A connection never reconnects. */
import {
  ProtocolError,
  withInputRequired,
  type Client,
  type ElicitResult,
} from '@modelcontextprotocol/client';
import { onAbort, unlessAborted } from '../../shared/runtime/abort.ts';
import { Deferred } from '../../shared/runtime/deferred.ts';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import { delay, startTimeout } from '../runtime/timeout.ts';
import { oneLineExcerpt } from '../../shared/text/one-line.ts';
import type { ToolRun } from '../tools/tool.ts';
import { mcpServerToolResultSchema, type McpServerToolResult } from './call-result.ts';
import { answerElicitation, type Elicitation } from './elicitation.ts';
import { IdleLimit } from './idle-limit.ts';
import { callWithInputRequests } from './input-requests.ts';
import { paramHeaders, readParamHeaders, type ParamHeader } from './param-headers.ts';
import type { CandidateCalls, RunningMcpCall, RunningMcpCalls } from './running-calls.ts';
import { listenForTools } from './listen-for-tools.ts';
import { readToolList, toolPageSchema, type ToolList, type ToolPredicate } from './tool-list.ts';
import { CUT_OFF_ERROR_DATA } from './transports/http-transport.ts';
import {
  MessageNotDeliveredError,
  UnreadableMcpAnswerError,
  type McpTransport,
  type McpTransportContext,
} from './transports/server-transport.ts';

const PAGE_LIMIT_MS = 30_000;
/**
 * The SDK's time limit for requests that end because of another limit. It is the longest time that Node's timers
 * support.
 */
const NO_LIMIT_MS = 2 ** 31 - 1;
const NO_REASON = 'The call was stopped.';
const MAX_ERROR_CHARS = 1_000;
/**
 * The server may request that the client sends a tool call again, without a question. The client then pauses this long.
 */
const PAUSE_MS = 500;
/**
 * The maximum number of open questions of one tool call. X3: the journal entry of each question repeats all open
 * questions. MCP 2025-11-25, Elicitation: "Clients SHOULD implement rate limiting".
 */
const MAX_OPEN_QUESTIONS = 20;

/** Thrown if the connection or the response ended early. The outcome of the tool call is then unknown. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
}

/** Thrown if the server sent no message about a tool call within the idle time limit. */
export class CallIdleError extends Error {
  override readonly name = 'CallIdleError';
}

export interface McpServerConnectionOptions extends McpTransportContext {
  server: string;
  /**
   * The time limit to connect: from the start of the program, or from the first request, to the end of the handshake.
   */
  connectMs: number;
  signal: AbortSignal;
  onListChanged: () => void;
  /** Called once when the connection has closed, with the reason as a sentence without subject and full stop. */
  onClosed: (why: string) => void;
}

export interface McpToolCall extends Omit<RunningMcpCall, 'onOutput'> {
  /** Aborts the tool call. After an abort, the client sends `notifications/cancelled`. */
  signal: AbortSignal;
  /**
   * Returns the reason of the abort. The client sends `message` to the server. A late answer is accepted only if
   * `reason` is a timeout.
   */
  stopCause: () => { reason: string; message: string } | undefined;
  /**
   * The maximum time between two server messages about the tool call. After this time, the call fails. Null means no
   * limit.
   */
  idleMs: number | null;
  /** Gets each server message about the tool call, as lines of text. */
  output: ToolRun['output'];
}

interface ConnectedMcpClient {
  client: Client;
  transport: McpTransport;
  calls: RunningMcpCalls;
}

export class McpServerConnection {
  readonly #client: Client;
  readonly #transport: McpTransport;
  readonly #calls: RunningMcpCalls;
  readonly #options: McpServerConnectionOptions;
  readonly #ended = new Deferred<void>();
  readonly #life = new AbortController();
  /** The parameters that the client also sends as headers, by tool. Only for 2026-07-28 over HTTP. */
  #headers: ReadonlyMap<string, readonly ParamHeader[]> = new Map();
  #closing = false;

  constructor({ client, transport, calls }: ConnectedMcpClient, options: McpServerConnectionOptions) {
    this.#client = client;
    this.#transport = transport;
    this.#calls = calls;
    this.#options = options;
    const onclose = (): void => {
      this.#life.abort();
      this.#ended.resolve();
      if (!this.#closing) options.onClosed(this.#connectionEndText());
    };
    Object.assign(client, { onclose });
    if (this.#isModern && client.getServerCapabilities()?.tools?.listChanged === true)
      void listenForTools(client, { ...options, signal: this.#life.signal });
  }

  /** The negotiated revision of MCP, e.g. `2025-11-25`. */
  get revision(): string {
    return this.#client.getNegotiatedProtocolVersion() ?? 'unknown';
  }

  /** True if the server may still work on a tool call, even if the call was stopped a short time ago. */
  get busy(): boolean {
    return this.#calls.busy;
  }

  get received(): number {
    return this.#calls.received;
  }

  /** Reads the current tool list. @throws Error if the server refuses or is too slow */
  async list(wanted: ToolPredicate, signal: AbortSignal): Promise<ToolList> {
    if (this.#client.getServerCapabilities()?.tools === undefined)
      return { definitions: [], problems: ['it offers no tools'] };
    const read = (cursor: string | undefined) =>
      this.#client.request(
        { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
        toolPageSchema,
        { timeout: PAGE_LIMIT_MS, signal },
      );
    const list = await readToolList(read, { wanted, log: this.#options.log }).catch((error: unknown) => {
      throw new Error(this.#isOver ? this.#connectionEndText() : mcpErrorLine(error), { cause: error });
    });
    return this.#isModern && this.#transport.hasPerRequestStream === true ? this.#withHeaders(list) : list;
  }

  /**
   * @throws ConnectionLostError; CallIdleError; MessageNotDeliveredError; Error with the server's message; AbortError
   * after the signal aborts
   */
  async call(call: McpToolCall): Promise<McpServerToolResult> {
    const { signal, stopCause, idleMs, output } = call;
    const { clock } = this.#options;
    // The SDK sends the reason of this signal to the server. So this signal has a text for the server as its reason,
    // and not the reason of the caller's signal.
    const stop = new AbortController();
    const idle = new IdleLimit(clock, idleMs, () => {
      running.stop(true);
      stop.abort('The server sent nothing within the idle time limit of the client.');
    });
    let openQuestions = 0;
    const ask: RunningMcpCall['ask'] = async (question, options) => {
      if (openQuestions === MAX_OPEN_QUESTIONS)
        throw new Error(`This call already has ${MAX_OPEN_QUESTIONS} open questions.`);
      openQuestions += 1;
      const release = idle.hold();
      return call.ask(question, options).finally(() => {
        openQuestions -= 1;
        release();
      });
    };
    const onOutput: RunningMcpCall['onOutput'] = (text, steps) => {
      idle.restart();
      output(`${text}\n`, steps);
    };
    const own: RunningMcpCall = { ...call, ask, onOutput };
    const running = this.#calls.begin(own);
    const stopListening = onAbort(signal, () => {
      const cause = stopCause();
      running.stop(cause?.reason === 'timeout');
      stop.abort(cause?.message ?? NO_REASON);
    });
    try {
      return await this.#sendCall(own, running.token, stop.signal);
    } catch (error) {
      signal.throwIfAborted();
      if (idle.expired)
        throw new CallIdleError(`sent nothing for ${(idleMs ?? 0) / 1000} s`, { cause: error });
      throw await this.#callFailure(error, signal);
    } finally {
      stopListening();
      idle.cancel();
      running.end();
    }
  }

  /** Resolves with false if the server gives no answer within `limitMs`. Otherwise resolves with true. */
  async ping(limitMs: number, signal: AbortSignal): Promise<boolean> {
    const limit = startTimeout(this.#options.clock, limitMs, signal);
    const options = { signal: limit.signal, timeout: NO_LIMIT_MS };
    try {
      await (this.#isModern ? this.#client.discover(options) : this.#client.ping(options));
      return true;
    } catch {
      // If the server answers with an error, it is alive. If the time limit has expired, it is not.
      return !limit.expired();
    } finally {
      limit.clear();
    }
  }

  /** Closes the connection. Resolves when no socket, timer or process is left. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#life.abort();
    await this.#client.close();
    await this.#transport.close();
  }

  /**
   * Answers an elicitation request of the server (MCP 2025-11-25 and older). Must be called in the handler of that
   * request.
   */
  async elicit(params: Elicitation, withdrawn: AbortSignal): Promise<ElicitResult> {
    return this.#elicit(params, this.#calls.origin(), withdrawn);
  }

  async #elicit(params: Elicitation, origin: CandidateCalls, withdrawn?: AbortSignal): Promise<ElicitResult> {
    const { server, log } = this.#options;
    const result = await answerElicitation({ server, params }, origin, withdrawn);
    if (result.action === 'cancel')
      log.warn(
        { calls: origin.calls.map(({ tool }) => tool) },
        'an MCP server asks a question, but does not say which of its calls asks',
      );
    return result;
  }

  #sendCall(call: RunningMcpCall, progressToken: string, signal: AbortSignal): Promise<McpServerToolResult> {
    const { tool: name, input } = call;
    const schema = withInputRequired(mcpServerToolResultSchema);
    return callWithInputRequests({
      send: (more) => {
        const params = { name, arguments: input, ...more, _meta: { progressToken } };
        const headers = paramHeaders(this.#headers.get(name) ?? [], input);
        const options = { signal, timeout: NO_LIMIT_MS, allowInputRequired: true, headers };
        return this.#client.request({ method: 'tools/call', params }, schema, options);
      },
      elicit: (params) => this.#elicit(params, { calls: [call], known: true }),
      pause: () => delay(this.#options.clock, PAUSE_MS, signal),
    });
  }

  /**
   * Removes the tools with invalid headers. MCP 2026-07-28, Custom Headers from Tool Parameters: "The client MUST
   * exclude the invalid tool".
   */
  #withHeaders({ definitions, problems }: ToolList): ToolList {
    const headers = new Map<string, readonly ParamHeader[]>();
    const more: string[] = [];
    for (const { name, declared } of definitions)
      try {
        headers.set(name, readParamHeaders(declared));
      } catch (error) {
        more.push(`"${oneLineExcerpt(name, 80)}" is omitted: ${errorMessageOf(error)}`);
      }
    this.#headers = headers;
    return {
      definitions: definitions.filter(({ name }) => headers.has(name)),
      problems: [...problems, ...more],
    };
  }

  /** @throws AbortError if the signal aborts before the connection has ended */
  async #callFailure(error: unknown, signal: AbortSignal): Promise<Error> {
    if (error instanceof MessageNotDeliveredError) {
      await unlessAborted(this.#ended.promise, signal);
      return error;
    }
    if (this.#isOver) return new ConnectionLostError(this.#connectionEndText(), { cause: error });
    if (error instanceof ProtocolError && error.data === CUT_OFF_ERROR_DATA)
      return new ConnectionLostError(`gave no complete answer (${mcpErrorLine(error)})`, { cause: error });
    if (error instanceof UnreadableMcpAnswerError)
      return new ConnectionLostError(`gave no readable answer (${mcpErrorLine(error)})`, { cause: error });
    return new Error(mcpErrorLine(error), { cause: error });
  }

  get #isModern(): boolean {
    return this.#client.getProtocolEra() === 'modern';
  }

  get #isOver(): boolean {
    return this.#life.signal.aborted;
  }

  #connectionEndText(): string {
    return this.#transport.trouble ?? 'closed the connection';
  }
}

export function mcpErrorLine(error: unknown): string {
  return oneLineExcerpt(errorMessageOf(error), MAX_ERROR_CHARS);
}

/**
 * Tracks the running calls of one connection. Assigns server messages to them: progress, log messages, questions and
 * late answers. Reads the messages directly from the transport, in their order. The SDK delivers a notification after a
 * later response, and then the last notification of a call would be lost.
 */
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { ToolProgress } from '../../shared/protocol/tool-approval.ts';
import { callResultSchema, type McpCallResult } from './call-result.ts';
import type { AskQuestion } from './elicitation.ts';
import { logText, progressText } from './notification-text.ts';
import { CUT_OFF } from './transports/http-transport.ts';
import type { ServerTransport } from './transports/server-transport.ts';

/**
 * The time after its stop in which a call may get a late answer, in milliseconds. During this time, its Streamable HTTP
 * response stream stays open, and the server counts as busy.
 */
const LATE_MS = 5 * 60_000;
/** The maximum number of stopped calls that may still get a late answer. */
const MAX_STOPPED = 100;

/** A call that runs on the MCP server. */
export interface RunningCall {
  /** The id of the tool execution, for the log. */
  toolId: string;
  tool: string;
  input: Record<string, unknown>;
  /** The owner of the calling task. */
  principal: string;
  ask: AskQuestion;
  /** Called with each server message about this call, as lines of text. `steps` is present if their number is known. */
  heard: (text: string, steps?: ToolProgress) => void;
  /** Called with an answer that arrives after the stop of the call. */
  answeredLate: (result: McpCallResult) => void;
}

/** The calls to which a server request may belong. `known` is true if the transport identifies the call. */
export interface RequestOrigin {
  calls: readonly RunningCall[];
  known: boolean;
}

interface Entry {
  call: RunningCall;
  /** The id of the open client request for this call. */
  requestId?: RequestId | undefined;
}

export class RunningCalls {
  readonly #transport: ServerTransport;
  /** The running calls, by progress token. */
  readonly #running = new Map<string, Entry>();
  /** The stopped calls that may get a late answer. `until` is the end of that time, on the clock. */
  readonly #stopped = new Map<RequestId, { call: RunningCall; until: number }>();
  readonly #clock: Clock;
  #last = 0;
  #received = 0;

  /** Create this object before the client gets the transport, because the client keeps an existing handler. */
  constructor(transport: ServerTransport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
    Object.assign(transport, {
      onsend: (message: JSONRPCMessage) => this.#sent(message),
      onmessage: (message: JSONRPCMessage) => this.#take(message),
    });
  }

  /** True if a call runs, or the server may still work on a stopped one. */
  get busy(): boolean {
    const now = this.#clock.now();
    return this.#running.size > 0 || [...this.#stopped.values()].some(({ until }) => now < until);
  }

  /** The number of received messages. A change shows that the server has sent a message. */
  get received(): number {
    return this.#received;
  }

  /**
   * Registers a call.
   * @returns the progress token for the requests of the call. Call `stop` before you cancel the request: it prepares for
   * a late answer. Call `end` when the call is over.
   */
  begin(call: RunningCall): { token: string; stop: (keepOpen: boolean) => void; end: () => void } {
    const token = `call-${(this.#last += 1)}`;
    const entry: Entry = { call };
    this.#running.set(token, entry);
    return {
      token,
      stop: (keepOpen) => this.#stop(entry, keepOpen),
      end: () => void this.#running.delete(token),
    };
  }

  /**
   * Returns the calls to which a request of the server may belong. Call it in the request's handler, which runs in the
   * context of `onmessage`.
   */
  origin(): RequestOrigin {
    const { about } = this.#transport;
    const calls = [...this.#running.values()];
    if (about === undefined) return { calls: calls.map(({ call }) => call), known: false };
    const behind = calls.filter(({ requestId }) => requestId === about);
    return { calls: behind.map(({ call }) => call), known: true };
  }

  #stop({ call, requestId }: Entry, keepOpen: boolean): void {
    if (requestId === undefined) return;
    if (keepOpen) this.#transport.keepOpen?.(requestId, LATE_MS);
    this.#stopped.set(requestId, { call, until: this.#clock.now() + LATE_MS });
    const [oldest] = this.#stopped.keys();
    if (this.#stopped.size > MAX_STOPPED && oldest !== undefined) this.#stopped.delete(oldest);
  }

  #sent(message: JSONRPCMessage): void {
    if (!isJSONRPCRequest(message)) return;
    const token = message.params?.['_meta']?.progressToken;
    const entry = typeof token === 'string' ? this.#running.get(token) : undefined;
    if (entry !== undefined) entry.requestId = message.id;
  }

  #take(message: JSONRPCMessage): void {
    this.#received += 1;
    if (isJSONRPCNotification(message)) this.#notified(message);
    else if (!isJSONRPCRequest(message) && message.id !== undefined) this.#answered(message.id, message);
  }

  #notified(message: JSONRPCMessage): void {
    const progress = progressText(message);
    if (progress !== undefined) this.#running.get(progress.token)?.call.heard(progress.text, progress.steps);
    const log = logText(message);
    if (log !== undefined) this.#only()?.heard(log);
  }

  /**
   * Returns the call whose response stream contains the current message. If the transport does not know it, returns the
   * only running call.
   */
  #only(): RunningCall | undefined {
    const { about } = this.#transport;
    const calls = [...this.#running.values()];
    if (about !== undefined) return calls.find(({ requestId }) => requestId === about)?.call;
    return calls.length === 1 ? calls[0]?.call : undefined;
  }

  #answered(id: RequestId, message: JSONRPCMessage): void {
    const running = [...this.#running.values()].find(({ requestId }) => requestId === id);
    if (running !== undefined) running.requestId = undefined;
    const stopped = this.#stopped.get(id);
    if (stopped === undefined) return;
    this.#stopped.delete(id);
    const result = resultIn(message);
    if (result !== undefined) stopped.call.answeredLate(result);
  }
}

/** Returns the result. Undefined for the error that the transport makes if a response ends early. */
function resultIn(message: JSONRPCMessage): McpCallResult | undefined {
  if (isJSONRPCResultResponse(message)) return callResultSchema.safeParse(message.result).data;
  if (!isJSONRPCErrorResponse(message) || message.error.data === CUT_OFF) return undefined;
  return { content: [{ type: 'text', text: message.error.message }], isError: true };
}

/**
 * Tracks the running tool calls of one connection, and assigns server messages to them. Such messages are progress,
 * logs, questions and late answers. This class reads the messages directly from the transport, in their order. The SDK
 * delivers a notification after a later response, so a call's last notification would be lost.
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
import { setBounded } from '../../shared/runtime/set-bounded.ts';
import type { ToolProgress } from '../../shared/protocol/tool-approval.ts';
import { mcpServerToolResultSchema, type McpServerToolResult } from './call-result.ts';
import type { AskQuestion } from './elicitation.ts';
import { mcpLogText, mcpProgressOf } from './notification-text.ts';
import { CUT_OFF_ERROR_DATA } from './transports/http-transport.ts';
import type { McpTransport } from './transports/server-transport.ts';

/**
 * The time in which a stopped tool call may get a late answer. Its Streamable HTTP response stream stays open, and the
 * server is treated as busy.
 */
const LATE_MS = 5 * 60_000;
/** The maximum number of stopped tool calls that may still get a late answer. */
const MAX_STOPPED_CALLS = 100;

export interface RunningMcpCall {
  toolId: string;
  tool: string;
  input: Record<string, unknown>;
  principal: string;
  ask: AskQuestion;
  /**
   * Called with each server message about this tool call, as lines of text. `steps` is present if the number of steps
   * is known.
   */
  onOutput: (text: string, steps?: ToolProgress) => void;
  answeredLate: (result: McpServerToolResult) => void;
}

/** The calls that a server request may belong to. `known` is true if the transport identifies the tool call. */
export interface CandidateCalls {
  calls: readonly RunningMcpCall[];
  known: boolean;
}

interface Entry {
  call: RunningMcpCall;
  requestId?: RequestId | undefined;
}

export class RunningMcpCalls {
  readonly #transport: McpTransport;
  readonly #running = new Map<string, Entry>();
  /**
   * The stopped tool calls that may get a late answer. `until` is the end of this time, as a value of `Clock.elapsed`.
   */
  readonly #stopped = new Map<RequestId, { call: RunningMcpCall; until: number }>();
  readonly #clock: Clock;
  #last = 0;
  #received = 0;

  /**
   * Sets the handlers of the transport. Must be called before the client gets the transport, because the client calls
   * these handlers before its own.
   */
  constructor(transport: McpTransport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
    Object.assign(transport, {
      onsend: (message: JSONRPCMessage) => this.#recordSentRequest(message),
      onmessage: (message: JSONRPCMessage) => this.#handleMessage(message),
    });
  }

  /** True if a tool call runs, or if the server may still work on a stopped call. */
  get busy(): boolean {
    const now = this.#clock.elapsed();
    return this.#running.size > 0 || [...this.#stopped.values()].some(({ until }) => now < until);
  }

  /** The number of received messages. A change shows that the server has sent a message. */
  get received(): number {
    return this.#received;
  }

  /**
   * Registers a tool call and returns the progress token for its requests. `stop` must be called before the request is
   * cancelled, because it prepares for a late answer. `end` must be called at the end of the call.
   */
  begin(call: RunningMcpCall): { token: string; stop: (keepOpen: boolean) => void; end: () => void } {
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
   * Returns the tool calls that a server request may belong to. Must be called in the handler of that request. The
   * handler runs in the async context of `onmessage`.
   */
  origin(): CandidateCalls {
    const { about } = this.#transport;
    const calls = [...this.#running.values()];
    if (about === undefined) return { calls: calls.map(({ call }) => call), known: false };
    const behind = calls.filter(({ requestId }) => requestId === about);
    return { calls: behind.map(({ call }) => call), known: true };
  }

  #stop({ call, requestId }: Entry, keepOpen: boolean): void {
    if (requestId === undefined) return;
    if (keepOpen) this.#transport.keepOpen?.(requestId, LATE_MS);
    const until = this.#clock.elapsed() + LATE_MS;
    setBounded(this.#stopped, requestId, { call, until }, MAX_STOPPED_CALLS);
  }

  #recordSentRequest(message: JSONRPCMessage): void {
    if (!isJSONRPCRequest(message)) return;
    const token = message.params?.['_meta']?.progressToken;
    const entry = typeof token === 'string' ? this.#running.get(token) : undefined;
    if (entry !== undefined) entry.requestId = message.id;
  }

  #handleMessage(message: JSONRPCMessage): void {
    this.#received += 1;
    if (isJSONRPCNotification(message)) this.#handleNotification(message);
    else if (!isJSONRPCRequest(message) && message.id !== undefined) this.#handleAnswer(message.id, message);
  }

  #handleNotification(message: JSONRPCMessage): void {
    const progress = mcpProgressOf(message);
    if (progress !== undefined)
      this.#running.get(progress.token)?.call.onOutput(progress.text, progress.steps);
    const log = mcpLogText(message);
    if (log !== undefined) this.#callOfCurrentMessage()?.onOutput(log);
  }

  /**
   * Returns the tool call whose response stream contains the current message. If the transport does not know this call,
   * returns the only running call.
   */
  #callOfCurrentMessage(): RunningMcpCall | undefined {
    const { calls, known } = this.origin();
    return known || calls.length === 1 ? calls[0] : undefined;
  }

  #handleAnswer(id: RequestId, message: JSONRPCMessage): void {
    const running = [...this.#running.values()].find(({ requestId }) => requestId === id);
    if (running !== undefined) running.requestId = undefined;
    const stopped = this.#stopped.get(id);
    if (stopped === undefined) return;
    this.#stopped.delete(id);
    const result = resultIn(message);
    if (result !== undefined) stopped.call.answeredLate(result);
  }
}

/**
 * Returns the result in a response. If the response ended early, the transport has replaced it with an error. Then
 * returns undefined.
 */
function resultIn(message: JSONRPCMessage): McpServerToolResult | undefined {
  if (isJSONRPCResultResponse(message)) return mcpServerToolResultSchema.safeParse(message.result).data;
  if (!isJSONRPCErrorResponse(message) || message.error.data === CUT_OFF_ERROR_DATA) return undefined;
  return { content: [{ type: 'text', text: message.error.message }], isError: true };
}

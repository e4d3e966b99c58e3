/**
 * Wraps the SDK's transport for Streamable HTTP (MCP 2026-07-28 and 2025-11-25, Transports). It adds four features for
 * long-lived clients:
 * - If a response ends early, or does not answer its request, its tool call fails at once.
 * - A cancelled request releases its socket.
 * - If the server is unreachable or has lost the MCP session, the connection ends. The next connection starts with a
 *   handshake.
 * - For each message, the transport knows which request's response stream contains it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  SdkError,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type JSONRPCMessage,
  type RequestId,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { systemClock, type Clock } from '../../../shared/runtime/clock.ts';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import { resultWithin } from '../../runtime/timeout.ts';
import { parseJson } from '../../../shared/text/parse-json.ts';
import { httpRequestError, httpStatusText, isFetchFailure, isConnectionNeverOpened } from './http-failure.ts';
import { openOwnSocketHttp, type OwnSocketHttp } from './own-socket-http.ts';
import { CancelledRequestSockets } from './cancelled-request-sockets.ts';
import {
  MessageNotDeliveredError,
  McpSessionLostError,
  UnreadableMcpAnswerError,
  type McpTransport,
} from './server-transport.ts';

/** The delays before the SDK resumes a broken stream. Each delay is twice the previous one. */
const RESUMING = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 5_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 3,
};

const LOST = 'has lost the session';

/** The error code of this client. JSON-RPC reserves -32000 to -32099 for errors of the implementation. */
const OWN_ERROR = -32000;
/** The `data` of the error that replaces a response that ended early. */
export const CUT_OFF_ERROR_DATA = 'cut-off';

/** Matches the media type of JSON. RFC 9110 §8.3.1: its case does not matter, and parameters may follow. */
const JSON_DOCUMENT = /^application\/json\s*(?:;|$)/i;

const NO_RESPONSE = 'the answer has another id than the request, or no response';

/** The maximum number of unanswered requests that the transport remembers, to recognize their late answers. */
const MAX_UNANSWERED = 1_000;

/**
 * After the server has lost the MCP session, the transport waits at most this long for responses to open requests. Then
 * it ends the connection.
 */
const LAST_RESPONSES_MS = 1_000;

/** The time limit of the request that deletes the MCP session. MCP does not require this request. */
const END_SESSION_MS = 1_000;

export class McpHttpTransport implements McpTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  onsend?: (message: JSONRPCMessage) => void;
  readonly hasPerRequestStream = true;
  /** The id of the current request. The SDK reads and reopens a response stream in this async context. */
  readonly #request = new AsyncLocalStorage<RequestId | undefined>();
  readonly #url: URL;
  readonly #line: OwnSocketHttp;
  readonly #inner: StreamableHTTPClientTransport;
  readonly #posts: CancelledRequestSockets;
  /** The requests whose response is one JSON document. If this document is not the answer, no answer follows. */
  readonly #single = new Set<RequestId>();
  /** The requests without an answer. The answer to a cancelled request may arrive late, on another request's stream. */
  readonly #unanswered = new Set<RequestId>();
  /** The requests that wait for the start of a response stream, or for a complete JSON response. */
  readonly #sending = new Set<Promise<void>>();
  /** Set if requests are open when the server loses the MCP session. Resolves when the connection ends. */
  #losing: Promise<void> | undefined;
  #ending: Promise<void> | undefined;
  #why: string | undefined;
  #connected = false;
  /** The last error status before the end of the handshake. */
  #refusal: string | undefined;
  /** The reason why a stream broke. The SDK reports this reason before the end of the request. */
  #streamTrouble: string | undefined;

  constructor(url: URL, headers: Readonly<Record<string, string>>, clock: Clock) {
    this.#url = url;
    this.#posts = new CancelledRequestSockets(clock);
    this.#line = openOwnSocketHttp(headers);
    this.#inner = new StreamableHTTPClientTransport(url, {
      fetch: (to, init) => this.#fetch(to, init),
      reconnectionOptions: RESUMING,
    });
    Object.assign(this.#inner, {
      onmessage: (message: JSONRPCMessage) => this.#handleMessage(message),
      onerror: (error: Error) => this.#handleConnectionError(error),
    });
  }

  get trouble(): string | undefined {
    return this.#why ?? (this.#connected ? undefined : this.#refusal);
  }

  get about(): RequestId | undefined {
    return this.#request.getStore();
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#connected = true;
    this.#inner.setProtocolVersion(version);
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  /**
   * @throws MessageNotDeliveredError if the server certainly has not accepted the message; SdkHttpError for an error
   * status; UnreadableMcpAnswerError if a tool call has another answer than JSON-RPC
   */
  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    await this.#losing;
    if (this.#ending !== undefined) throw new MessageNotDeliveredError('the connection was closed');
    this.onsend?.(message);
    await this.#post(message, options).catch((error: unknown) => {
      const why = this.#sentence(error);
      if (why instanceof SdkHttpError) this.#refusal = why.message;
      if (this.#isRefused(error, isJSONRPCRequest(message) ? message.id : undefined))
        throw new McpSessionLostError(why.message, { cause: error });
      if (isConnectionNeverOpened(error)) throw new MessageNotDeliveredError(why.message, { cause: error });
      if (isToolCall(message) && !(error instanceof SdkError) && !isFetchFailure(error))
        throw new UnreadableMcpAnswerError(unreadableAnswerText(error, why), { cause: error });
      throw why;
    });
  }

  async #post(message: JSONRPCMessage, options: TransportSendOptions): Promise<void> {
    if (!isJSONRPCRequest(message)) {
      await this.#request.run(undefined, () => this.#inner.send(message));
      this.#posts.sent(message);
      return;
    }
    const { id } = message;
    this.#unanswered.add(id);
    const [oldest] = this.#unanswered;
    if (oldest !== undefined && this.#unanswered.size > MAX_UNANSWERED) this.#unanswered.delete(oldest);
    const own = this.#posts.begin(id);
    const { requestSignal, onRequestStreamEnd, headers } = options;
    requestSignal?.addEventListener('abort', () => this.#posts.end(id), { once: true });
    const request = {
      ...(headers && { headers }),
      requestSignal: requestSignal === undefined ? own : AbortSignal.any([own, requestSignal]),
      onRequestStreamEnd: onRequestStreamEnd ?? (() => this.#cutOff(id)),
    };
    const sending = this.#request.run(id, () => this.#inner.send(message, request));
    this.#sending.add(sending);
    try {
      await sending;
      if (this.#single.has(id) && this.#posts.isOpen(id)) this.#fail(id, NO_RESPONSE);
    } catch (error) {
      this.#posts.end(id);
      throw error;
    } finally {
      this.#single.delete(id);
      this.#sending.delete(sending);
    }
  }

  /** @throws UnreadableMcpAnswerError if the server answers a request with 202, which promises no response */
  async #fetch(url: string | URL, init?: RequestInit): Promise<Response> {
    const response = await this.#line.fetch(url, init);
    const id = this.about;
    if (id === undefined || init?.method !== 'POST') return response;
    // MCP 2025-11-25, Sending Messages to the Server: 202 answers a notification, and a request gets a stream or JSON.
    if (response.status === 202) {
      await response.body?.cancel();
      throw new UnreadableMcpAnswerError('it answered the request with HTTP 202, which has no response');
    }
    // The SDK follows a redirect within the origin. So the body of a redirect, often JSON, is not the answer.
    if (response.ok && JSON_DOCUMENT.test(response.headers.get('content-type') ?? '')) this.#single.add(id);
    return response;
  }

  keepOpen(id: RequestId, ms: number): void {
    this.#posts.keepOpen(id, ms);
  }

  /** Resolves when every socket is closed. */
  async close(): Promise<void> {
    this.#end(undefined);
    await this.#ending;
  }

  #handleMessage(message: JSONRPCMessage): void {
    const { about } = this;
    if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) {
      this.onmessage?.(message);
      return;
    }
    // JSON-RPC 2.0 §5.1: an error without an id means that the server could not read the request's id. The SDK accepts
    // the id 1 as "1".
    const id = message.id === undefined || String(message.id) === String(about) ? about : message.id;
    if (id !== undefined && (this.#unanswered.delete(id) || about === undefined || id === about)) {
      this.#posts.end(id);
      this.onmessage?.({ ...message, id });
    } else if (about !== undefined) this.#fail(about, NO_RESPONSE);
  }

  #cutOff(id: RequestId): void {
    this.#fail(id, this.#streamTrouble ?? 'the response ended early');
  }

  /** Replaces a response by an error. The outcome is unknown, because the server has accepted the request. */
  #fail(id: RequestId, message: string): void {
    this.#unanswered.delete(id);
    // R83: the server may leave the stream open, so the transport closes it.
    this.#posts.abort(id);
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: OWN_ERROR, message, data: CUT_OFF_ERROR_DATA } });
  }

  /** Handles errors of the whole connection. Each call reports the error of its own request. */
  #handleConnectionError(error: Error): void {
    if (this.#ending !== undefined) return;
    this.onerror?.(error);
    const why = this.#sentence(error).message;
    const [, trouble] = /^SSE stream disconnected: (?:\w+: )?(.*)$/s.exec(error.message) ?? [];
    this.#streamTrouble = trouble;
    const forgotten = this.#isForgotten(error, this.about);
    const over =
      forgotten ||
      this.#isRefused(error, this.about) ||
      isFetchFailure(error) ||
      error.message.startsWith('Maximum reconnection attempts');
    if (!over) return;
    // A request must report its own error first. That error shows whether the server received the request.
    if (forgotten && this.about === undefined && this.#sending.size > 0)
      this.#losing ??= this.#endAfterLastResponses();
    else setImmediate(() => this.#end(forgotten ? LOST : why));
  }

  /**
   * Waits for the responses to open requests, then ends the connection. Called after the stream for notifications has
   * reported that the server has lost the MCP session.
   */
  async #endAfterLastResponses(): Promise<void> {
    await resultWithin(systemClock, LAST_RESPONSES_MS, Promise.allSettled(this.#sending));
    await new Promise((resolve) => setImmediate(resolve));
    this.#end(LOST);
  }

  /**
   * True if the server has lost the MCP session. The status 404 for a request with a session id means this (MCP
   * 2025-11-25, Session Management). Many servers answer 400 instead, with a message about the session. Both statuses
   * mean that the server has not processed the message. If the body is a JSON-RPC error for this request, the server
   * may have processed the message.
   * @param id the id of the request; undefined for another message
   */
  #isForgotten(error: unknown, id: RequestId | undefined): boolean {
    if (!(error instanceof SdkHttpError) || this.sessionId === undefined) return false;
    if (error.status === 404) return true;
    const text = String(error.data.text);
    const isAnswer = id !== undefined && answeredId(text) === id;
    return error.status === 400 && /session/i.test(text) && !isAnswer;
  }

  /** True if the server has lost the MCP session, or no longer has an MCP endpoint at the URL. */
  #isRefused(error: unknown, id: RequestId | undefined): boolean {
    return this.#isForgotten(error, id) || (this.#connected && isGone(error));
  }

  #sentence(error: unknown): Error {
    if (error instanceof SdkHttpError) {
      const { text } = error.data;
      const sentence = httpStatusText(this.#url, error.status ?? 0, typeof text === 'string' ? text : '');
      return new SdkHttpError(error.code, sentence, error.data);
    }
    const failure = httpRequestError(error, this.#url);
    return failure.message === errorMessageOf(error) && error instanceof Error ? error : failure;
  }

  /** Ends the connection once. @param why undefined if the client ends the connection */
  #end(why: string | undefined): void {
    if (this.#ending !== undefined) return;
    this.#why = why;
    this.#ending = this.#finish(why === undefined).catch((error: unknown) => {
      this.onerror?.(new Error('the transport cannot close the connection', { cause: error }));
    });
    this.onclose?.();
  }

  async #finish(polite: boolean): Promise<void> {
    if (polite && this.sessionId !== undefined) {
      await resultWithin(systemClock, END_SESSION_MS, this.#inner.terminateSession()).catch(() => undefined);
    }
    this.#posts.abortAll();
    await this.#inner.close();
    await this.#line.destroy();
  }
}

function isToolCall(message: JSONRPCMessage): boolean {
  return isJSONRPCRequest(message) && message.method === 'tools/call';
}

/** Returns a short text for a ZodError, because its own message is a long list in JSON. */
function unreadableAnswerText(error: unknown, why: Error): string {
  return error instanceof z.core.$ZodError ? 'it is not JSON-RPC' : why.message;
}

const answer = z.object({ jsonrpc: z.literal('2.0'), id: z.union([z.string(), z.number()]) });

function answeredId(text: string): RequestId | undefined {
  return answer.safeParse(parseJson(text)).data?.id;
}

/**
 * True for 404 or 410 without a JSON-RPC error. A 2026-07-28 server answers 404 with such an error for an unknown
 * method.
 */
function isGone(error: unknown): boolean {
  if (!(error instanceof SdkHttpError) || (error.status !== 404 && error.status !== 410)) return false;
  return !/"jsonrpc"/.test(String(error.data.text));
}

/**
 * Implements the older transport HTTP+SSE (MCP 2024-11-05, Transports: HTTP with SSE). The client opens one event
 * stream. The first event names the endpoint for POST requests. The server answers a POST with 202 and sends the
 * response on the stream.
 *
 * - The transport opens the stream once and reads it to the end. The client matches responses to requests by id.
 * - The transport ends with its stream. A new stream needs a new handshake. The SDK's own transport opens a new stream
 *   after a lost MCP session. Running calls would then wait forever.
 */
import { isJSONRPCRequest, parseJSONRPCMessage, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import { parseUrl } from '../../../shared/net/parse-url.ts';
import { httpRequestError, isConnectionNeverOpened, readHttpError } from './http-failure.ts';
import { openOwnSocketHttp, type OwnSocketHttp } from './own-socket-http.ts';
import { CancelledRequestSockets } from './cancelled-request-sockets.ts';
import { MessageNotDeliveredError, McpSessionLostError, type McpTransport } from './server-transport.ts';

export class McpSseTransport implements McpTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  onsend?: (message: JSONRPCMessage) => void;
  readonly #url: URL;
  readonly #line: OwnSocketHttp;
  readonly #life = new AbortController();
  readonly #posts: CancelledRequestSockets;
  readonly #endpoint = new Deferred<URL>();
  #ending: Promise<void> | undefined;
  #why: string | undefined;

  constructor(url: URL, headers: Readonly<Record<string, string>>, clock: Clock) {
    this.#url = url;
    this.#posts = new CancelledRequestSockets(clock);
    this.#line = openOwnSocketHttp(headers);
  }

  get trouble(): string | undefined {
    return this.#why;
  }

  /** Resolves after the first event. @throws Error if the stream does not open, or ends before this event */
  async start(): Promise<void> {
    const { signal } = this.#life;
    const response = await this.#line
      .fetch(this.#url, { headers: { accept: 'text/event-stream' }, signal })
      .catch((error: unknown) => {
        throw httpRequestError(error, this.#url);
      });
    const type = response.headers.get('content-type') ?? 'no content type';
    if (!response.ok) throw await readHttpError(response, this.#url);
    if (response.body === null || !type.startsWith('text/event-stream'))
      throw new Error(`${this.#url.host} answered with ${type}, not with an event stream`);
    void this.#read(response.body);
    await this.#endpoint.promise;
  }

  /** @throws MessageNotDeliveredError if the server certainly has not accepted the message */
  async send(message: JSONRPCMessage): Promise<void> {
    this.onsend?.(message);
    const endpoint = await this.#endpoint.promise;
    if (!isJSONRPCRequest(message)) {
      await this.#post(endpoint, message, this.#life.signal);
      this.#posts.sent(message);
      return;
    }
    try {
      await this.#post(endpoint, message, this.#posts.begin(message.id));
    } finally {
      this.#posts.end(message.id);
    }
  }

  async #post(endpoint: URL, message: JSONRPCMessage, signal: AbortSignal): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const response = await this.#line
      .fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(message), signal })
      .catch((error: unknown) => {
        const failure = httpRequestError(error, endpoint);
        if (!isConnectionNeverOpened(error)) throw failure;
        this.#endLater(failure.message);
        throw new MessageNotDeliveredError(failure.message, { cause: error });
      });
    if (response.ok) return;
    const failure = await readHttpError(response, endpoint);
    if (response.status !== 404 && response.status !== 410) throw failure;
    // The endpoint's URL contains the id of the MCP session. So these statuses mean that the server has lost the
    // session.
    this.#endLater('has lost the session');
    throw new McpSessionLostError(failure.message, { cause: failure });
  }

  /** Ends the connection after the request has reported its own error. The stream may otherwise stay open. */
  #endLater(why: string): void {
    setImmediate(() => this.#end(why));
  }

  /** Resolves when every socket is closed. */
  async close(): Promise<void> {
    this.#end(undefined);
    await this.#ending;
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    const parser = createParser({ onEvent: (event) => this.#take(event) });
    try {
      for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }));
      this.#end('ended its stream');
    } catch (error) {
      this.#end(`ended its stream early (${httpRequestError(error, this.#url).message})`);
    }
  }

  #take({ event = 'message', data }: EventSourceMessage): void {
    switch (event) {
      case 'endpoint':
        return this.#handleEndpointEvent(data);
      // Some servers name the event `result` instead of `message`.
      case 'message':
      case 'result':
        return this.#handleMessageEvent(data);
      default:
      // Keep-alive events and unknown events have no effect.
    }
  }

  #handleEndpointEvent(data: string): void {
    const endpoint = parseUrl(data, this.#url);
    // POST requests contain the user's credentials, so they go only to the configured origin.
    if (endpoint?.origin !== this.#url.origin) return this.#end('named an endpoint on another origin');
    this.#endpoint.resolve(endpoint);
  }

  #handleMessageEvent(data: string): void {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(JSON.parse(data));
    } catch (error) {
      this.onerror?.(new Error('an event contains no JSON-RPC message', { cause: error }));
      return;
    }
    this.onmessage?.(message);
  }

  /** Ends the connection once. @param why undefined if the client ends the connection */
  #end(why: string | undefined): void {
    if (this.#ending !== undefined) return;
    this.#why = why;
    this.#endpoint.reject(new Error(why ?? 'the connection was closed'));
    this.#life.abort();
    this.#posts.abortAll();
    this.#ending = this.#line.destroy().catch((error: unknown) => {
      this.onerror?.(new Error('the transport cannot close the connection', { cause: error }));
    });
    this.onclose?.();
  }
}

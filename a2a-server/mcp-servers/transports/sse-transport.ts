/**
 * The older HTTP+SSE (MCP 2024-11-05, Transports: HTTP with SSE): one stream from the server for the client's whole life, whose
 * first event says where messages are to be posted; what is posted is answered with 202 and, on the stream, whenever the
 * server is done.
 *
 * - R81 The stream is opened once and read until it ends. Answers find their caller by id, above this.
 * - R82 When it ends, this transport has ended: a new stream is a new session, which begins with a new handshake. The SDK's
 *   own opens another stream beneath a session that the server has forgotten, and calls in flight wait for nothing.
 */
import { isJSONRPCRequest, parseJSONRPCMessage, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { Deferred } from '../../../shared/client/deferred.ts';
import { parseUrl } from '../../../shared/parse-url.ts';
import { httpFailure, statusFailure } from './http-failure.ts';
import { openHttpLine, type HttpLine } from './http-line.ts';
import { PostSignals } from './post-signals.ts';
import type { ServerTransport } from './server-transport.ts';

export class SseTransport implements ServerTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #url: URL;
  readonly #line: HttpLine;
  readonly #life = new AbortController();
  readonly #posts = new PostSignals();
  readonly #endpoint = new Deferred<URL>();
  #ending: Promise<void> | undefined;
  #why: string | undefined;

  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#line = openHttpLine(headers);
  }

  get trouble(): string | undefined {
    return this.#why;
  }

  /** Resolves with the first event. @throws Error when the stream cannot be opened, or ends before. */
  async start(): Promise<void> {
    const { signal } = this.#life;
    const response = await this.#line
      .fetch(this.#url, { headers: { accept: 'text/event-stream' }, signal })
      .catch((error: unknown) => {
        throw httpFailure(error, this.#url);
      });
    const type = response.headers.get('content-type') ?? 'no content type';
    if (!response.ok) throw await statusFailure(response, this.#url);
    if (response.body === null || !type.startsWith('text/event-stream'))
      throw new Error(`${this.#url.host} answered with ${type}, not with a stream of events`);
    void this.#read(response.body);
    await this.#endpoint.promise;
  }

  async send(message: JSONRPCMessage): Promise<void> {
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
        throw httpFailure(error, endpoint);
      });
    if (!response.ok) throw await statusFailure(response, endpoint);
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
      this.#end(`broke its stream off (${httpFailure(error, this.#url).message})`);
    }
  }

  #take({ event = 'message', data }: EventSourceMessage): void {
    switch (event) {
      case 'endpoint':
        return this.#found(data);
      // Some servers name it after what it carries.
      case 'message':
      case 'result':
        return this.#hand(data);
      default:
      // A sign of life, or something newer: nothing to answer.
    }
  }

  #found(data: string): void {
    const endpoint = parseUrl(data, this.#url);
    // What is posted carries the credentials: they go where the person has sent them, and nowhere else.
    if (endpoint?.origin !== this.#url.origin)
      return this.#end('wants messages to be posted to another origin than its own');
    this.#endpoint.resolve(endpoint);
  }

  #hand(data: string): void {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(JSON.parse(data));
    } catch (error) {
      this.onerror?.(new Error('an event holds no message', { cause: error }));
      return;
    }
    this.onmessage?.(message);
  }

  /** Once, whatever comes first. @param why undefined where it is this side that ends it. */
  #end(why: string | undefined): void {
    if (this.#ending !== undefined) return;
    this.#why = why;
    this.#endpoint.reject(new Error(why ?? 'the connection was closed'));
    this.#life.abort();
    this.#posts.abortAll();
    this.#ending = this.#line.destroy().catch((error: unknown) => {
      this.onerror?.(new Error('the connection could not be closed', { cause: error }));
    });
    this.onclose?.();
  }
}

/**
 * MCP over Streamable HTTP, revision 2025-11-25: the requests of a client, each with its own answer or stream of an answer.
 *
 * - A session is begun by the first request, and begun anew when the server has forgotten it: a request that was answered
 *   with 404 was not looked at (Streamable HTTP, session management 3, 4).
 * - A closed connection takes nothing back (Streamable HTTP, sending messages 6): that is said in so many words.
 * - No other request is made twice: what became of one without an answer is unknown.
 */
import type * as z from 'zod/mini';
import { ClientError } from '../client-error.ts';
import { eventsOf } from '../event-stream.ts';
import { fitting, understood } from '../service.ts';
import type { Service } from '../service.ts';
import { incoming, initialized, METHOD_NOT_FOUND, progressParams } from './json-rpc.ts';
import type { Incoming } from './json-rpc.ts';

const REVISION = '2025-11-25';
const SESSION = 'Mcp-Session-Id';

const NEVER = new AbortController().signal;

export interface RequestOptions {
  /** Takes the request back when it aborts: the server is told, and ClientError `aborted` is thrown. */
  signal?: AbortSignal | undefined;
  /** What the server says while it works. */
  onProgress?: ((message: string) => void) | undefined;
}

export interface Identity {
  name: string;
  version: string;
}

type Headers = Readonly<Record<string, string>>;
type Outgoing = { method: string; params?: object };

export class McpConnection {
  readonly #service: Service;
  readonly #identity: Identity;
  readonly #quietMs: number;
  #beginning: Promise<Headers> | undefined;
  /** The headers of the session, once it has begun. */
  #session: Headers | undefined;
  #lastId = 0;

  constructor(service: Service, identity: Identity, quietMs: number) {
    this.#service = service;
    this.#identity = identity;
    this.#quietMs = quietMs;
  }

  /** @throws ClientError; `outcome-unknown` when the answer was lost */
  async request<Schema extends z.ZodMiniType>(
    schema: Schema,
    message: Outgoing,
    options: RequestOptions = {},
  ): Promise<z.output<Schema>> {
    let result: unknown;
    try {
      result = await this.#exchange(message, await this.#begun(), options);
    } catch (error) {
      if (!(error instanceof ClientError && error.status === 404)) throw error;
      this.#beginning = undefined;
      result = await this.#exchange(message, await this.#begun(), options);
    }
    return fitting(schema, result, JSON.stringify(result) ?? '');
  }

  /** Sent now, in the last moment of a page; nobody waits for the answer. Without a session there is nothing to end. */
  requestLeaving(message: Outgoing): void {
    if (this.#session === undefined) return;
    this.#post(this.#numbered(message), this.#session, { keepalive: true }).catch(() => undefined);
  }

  /** Ends the session, if there is one. Tasks are not touched. @throws ClientError */
  async close(): Promise<void> {
    const headers = this.#session;
    this.#beginning = undefined;
    this.#session = undefined;
    if (headers?.[SESSION] !== undefined) await this.#service.ask('', { method: 'DELETE', headers });
  }

  #begun(): Promise<Headers> {
    this.#beginning ??= this.#begin().catch((error: unknown) => {
      this.#beginning = undefined;
      throw error;
    });
    return this.#beginning;
  }

  async #begin(): Promise<Headers> {
    const params = { protocolVersion: REVISION, capabilities: {}, clientInfo: this.#identity };
    const asked = this.#numbered({ method: 'initialize', params });
    const response = await this.#post(asked, {}, {});
    const result = await this.#answerIn(response, asked.id, {});
    const { protocolVersion } = fitting(initialized, result, JSON.stringify(result) ?? '');
    const session = response.headers.get(SESSION);
    const headers = {
      'Mcp-Protocol-Version': protocolVersion,
      ...(session !== null && { [SESSION]: session }),
    };
    await this.#post({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers, {});
    this.#session = headers;
    return headers;
  }

  async #exchange(
    message: Outgoing,
    headers: Headers,
    { signal, onProgress }: RequestOptions,
  ): Promise<unknown> {
    if (signal?.aborted === true) throw withdrawal('Taken back before it was sent; nothing has happened.');
    const asked = this.#numbered(message, onProgress !== undefined);
    const reading = new AbortController();
    let withdraw: (() => void) | undefined;
    const withdrawn = new Promise<never>((_, reject) => {
      withdraw = () => {
        reject(withdrawal('Taken back. What it has begun may go on.'));
        const reason = typeof signal?.reason === 'string' ? signal.reason : 'the client no longer waits';
        const params = { requestId: asked.id, reason };
        this.#post({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, headers, {})
          .catch(() => undefined)
          .finally(() => reading.abort());
      };
    });
    if (withdraw !== undefined) signal?.addEventListener('abort', withdraw);
    try {
      const answer = this.#answered(asked, headers, { onProgress, signal: reading.signal });
      return await Promise.race([answer, withdrawn]);
    } finally {
      if (withdraw !== undefined) signal?.removeEventListener('abort', withdraw);
    }
  }

  /** Whether anything has happened is unknown, when there is no answer. */
  async #answered(
    asked: Outgoing & { id: number },
    headers: Headers,
    options: RequestOptions & { signal: AbortSignal },
  ): Promise<unknown> {
    try {
      const response = await this.#post(asked, headers, { signal: options.signal });
      return await this.#answerIn(response, asked.id, { ...options, headers });
    } catch (error) {
      if (!(error instanceof ClientError && error.code === 'unreachable')) throw error;
      throw new ClientError('outcome-unknown', `The answer to ${asked.method} was lost.`, { cause: error });
    }
  }

  async #answerIn(
    response: Response,
    id: number,
    { onProgress, headers = {}, signal = NEVER }: RequestOptions & { headers?: Headers },
  ): Promise<unknown> {
    if (response.headers.get('Content-Type')?.startsWith('text/event-stream') !== true)
      return resultOf(understood(incoming, await response.text()));
    for await (const { data } of eventsOf(response, { quietMs: this.#quietMs, signal })) {
      // Streamable HTTP, SEP-1699: a stream may begin with an event that has an id and no data.
      if (data === '') continue;
      const message = understood(incoming, data);
      if (message.method === undefined && message.id === id) return resultOf(message);
      if (message.method === 'notifications/progress') {
        const { progressToken, message: words } = progressParams.safeParse(message.params).data ?? {};
        if (progressToken === id && words !== undefined) onProgress?.(words);
      } else if (message.method !== undefined && message.id !== undefined && message.id !== null)
        await this.#post(replyTo(message), headers, {});
    }
    throw new ClientError('unreachable', 'The stream ended before the answer had come.');
  }

  #numbered({ method, params = {} }: Outgoing, progress = false) {
    this.#lastId += 1;
    const id = this.#lastId;
    return {
      jsonrpc: '2.0',
      id,
      method,
      params: progress ? { ...params, _meta: { progressToken: id } } : params,
    };
  }

  #post(
    body: object,
    headers: Headers,
    options: { signal?: AbortSignal; keepalive?: boolean },
  ): Promise<Response> {
    const accept = { Accept: 'application/json, text/event-stream', ...headers };
    return this.#service.ask('', { method: 'POST', headers: accept, body, ...options });
  }
}

/** A client that has declared nothing is asked for nothing but a sign of life (MCP, ping). */
function replyTo({ id, method }: Incoming): object {
  if (method === 'ping') return { jsonrpc: '2.0', id, result: {} };
  return { jsonrpc: '2.0', id, error: { code: METHOD_NOT_FOUND, message: 'This client does not do that.' } };
}

function resultOf({ result, error }: Incoming): unknown {
  if (error === undefined) return result;
  throw new ClientError('refused', error.message, { facts: { code: String(error.code) } });
}

function withdrawal(message: string): ClientError {
  return new ClientError('aborted', message);
}

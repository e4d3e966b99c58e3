/**
 * MCP over Streamable HTTP, revision 2025-11-25. Each response is JSON or a stream.
 *
 * - The first request starts an MCP session. The status 404 means that the server has lost the session and has not run
 *   the request. The client then starts a new session and sends the request again (Streamable HTTP, session management
 *   3, 4). This class sends no other request twice. If the response to a request is lost, the outcome is unknown.
 * - A closed connection does not cancel a request (Streamable HTTP, sending messages 6). So if the signal of a request
 *   aborts, the client sends `notifications/cancelled`.
 */
import { METHOD_NOT_FOUND } from '../../net/json-rpc-codes.ts';
import type * as z from 'zod/mini';
import { readResponseEvents } from '../core/response-events.ts';
import { ClientError } from '../core/client-error.ts';
import { Deferred } from '../../runtime/deferred.ts';
import { readResponseText, validateAs, parseAs } from '../core/http-client.ts';
import type { HttpClient } from '../core/http-client.ts';
import { jsonRpcMessageSchema, initializeResultSchema, progressParamsSchema } from './json-rpc.ts';
import type { JsonRpcMessage, ProgressParams } from './json-rpc.ts';

const REVISION = '2025-11-25';
const SESSION = 'Mcp-Session-Id';

const NEVER_ABORTED = new AbortController().signal;

export interface RequestOptions {
  /** If this signal aborts, the client sends `notifications/cancelled` and throws ClientError `aborted`. */
  signal?: AbortSignal | undefined;
  onProgress?: ((message: string, params: ProgressParams) => void) | undefined;
}

export interface McpClientInfo {
  name: string;
  version: string;
}

type Headers = Readonly<Record<string, string>>;
type Params = Readonly<Record<string, unknown>> & { _meta?: Readonly<Record<string, unknown>> };
type OutgoingMessage = { method: string; params?: Params };

interface SentRequest {
  jsonrpc: '2.0';
  id: number;
  method: string;
  params: Params;
}

/** A message to the server: a request, a notification, or the response to a request of the server. */
type SentMessage =
  | SentRequest
  | { jsonrpc: '2.0'; method: string; params?: Params }
  | { jsonrpc: '2.0'; id: JsonRpcMessage['id']; result: Record<string, never> }
  | { jsonrpc: '2.0'; id: JsonRpcMessage['id']; error: { code: number; message: string } };

export class McpConnection {
  readonly #service: HttpClient;
  readonly #identity: McpClientInfo;
  readonly #quietMs: number;
  #beginning: Promise<Headers> | undefined;
  /** The headers of the MCP session. Undefined before the session has started. */
  #session: Headers | undefined;
  #lastId = 0;

  constructor(service: HttpClient, identity: McpClientInfo, quietMs: number) {
    this.#service = service;
    this.#identity = identity;
    this.#quietMs = quietMs;
  }

  /**
   * Sends a request and validates its result.
   * @throws ClientError. Its code is `outcome-unknown` if the response is lost.
   */
  async request<Schema extends z.ZodMiniType>(
    schema: Schema,
    message: OutgoingMessage,
    options: RequestOptions = {},
  ): Promise<z.output<Schema>> {
    let result: unknown;
    const beginning = this.#beginOnce();
    try {
      result = await this.#exchange(message, await beginning, options);
    } catch (error) {
      if (!(error instanceof ClientError && error.status === 404)) throw error;
      // Another request may have started the new session already.
      if (this.#beginning === beginning) this.#beginning = undefined;
      result = await this.#exchange(message, await this.#beginOnce(), options);
    }
    return validateAs(schema, result, JSON.stringify(result) ?? '');
  }

  /** Sends a request while the page unloads. Does not wait for the response. Without an MCP session, sends nothing. */
  requestLeaving(message: OutgoingMessage): void {
    if (this.#session === undefined) return;
    this.#post(this.#toNumberedRequest(message), this.#session, { keepalive: true }).catch(() => undefined);
  }

  /** Ends the MCP session, if there is one. Tasks continue. @throws ClientError */
  async close(): Promise<void> {
    const headers = this.#session;
    this.#beginning = undefined;
    this.#session = undefined;
    if (headers?.[SESSION] !== undefined) await this.#service.ask('', { method: 'DELETE', headers });
  }

  #beginOnce(): Promise<Headers> {
    this.#beginning ??= this.#begin().catch((error: unknown) => {
      this.#beginning = undefined;
      throw error;
    });
    return this.#beginning;
  }

  async #begin(): Promise<Headers> {
    const params = { protocolVersion: REVISION, capabilities: {}, clientInfo: this.#identity };
    const asked = this.#toNumberedRequest({ method: 'initialize', params });
    const response = await this.#post(asked, {}, {});
    const result = await this.#answerIn(response, asked.id, {});
    const { protocolVersion } = validateAs(initializeResultSchema, result, JSON.stringify(result) ?? '');
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
    message: OutgoingMessage,
    headers: Headers,
    { signal, onProgress }: RequestOptions,
  ): Promise<unknown> {
    if (signal?.aborted === true)
      throw abortedError('The request was aborted before it was sent. Nothing has run.');
    const asked = this.#toNumberedRequest(message, onProgress !== undefined);
    const reading = new AbortController();
    const withdrawn = new Deferred<never>();
    const withdraw = (): void => {
      withdrawn.reject(abortedError('The request was aborted. A task that it started may continue.'));
      const reason = typeof signal?.reason === 'string' ? signal.reason : 'the client no longer waits';
      const params = { requestId: asked.id, reason };
      this.#post({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, headers, {})
        .catch(() => undefined)
        .finally(() => reading.abort());
    };
    signal?.addEventListener('abort', withdraw);
    try {
      const answer = this.#readAnswer(asked, headers, { onProgress, signal: reading.signal });
      return await Promise.race([answer, withdrawn.promise]);
    } finally {
      signal?.removeEventListener('abort', withdraw);
    }
  }

  /** Reads the response to a request. If the response is lost, throws an error with the code `outcome-unknown`. */
  async #readAnswer(
    asked: SentRequest,
    headers: Headers,
    options: RequestOptions & { signal: AbortSignal },
  ): Promise<unknown> {
    try {
      const response = await this.#post(asked, headers, { signal: options.signal });
      return await this.#answerIn(response, asked.id, { ...options, headers });
    } catch (error) {
      if (!(error instanceof ClientError && error.code === 'unreachable')) throw error;
      throw new ClientError(
        'outcome-unknown',
        `The answer to ${asked.method} was lost. Check the state before you send it again.`,
        { cause: error },
      );
    }
  }

  async #answerIn(
    response: Response,
    id: number,
    { onProgress, headers = {}, signal = NEVER_ABORTED }: RequestOptions & { headers?: Headers },
  ): Promise<unknown> {
    if (response.headers.get('Content-Type')?.startsWith('text/event-stream') !== true)
      return resultOf(parseAs(jsonRpcMessageSchema, await readResponseText(response)));
    for await (const { data } of readResponseEvents(response, { quietMs: this.#quietMs, signal })) {
      // Streamable HTTP, SEP-1699: a stream may begin with an event that has an id and no data.
      if (data === '') continue;
      const message = parseAs(jsonRpcMessageSchema, data);
      if (message.method === undefined && message.id === id) return resultOf(message);
      if (message.method === 'notifications/progress') {
        const params = progressParamsSchema.safeParse(message.params).data;
        if (params?.progressToken === id && params.message !== undefined)
          onProgress?.(params.message, params);
      } else if (message.method !== undefined && message.id !== undefined && message.id !== null)
        await this.#post(replyTo(message), headers, {});
    }
    throw new ClientError('unreachable', 'The stream ended before the answer.');
  }

  #toNumberedRequest({ method, params = {} }: OutgoingMessage, progress = false): SentRequest {
    this.#lastId += 1;
    const id = this.#lastId;
    return {
      jsonrpc: '2.0',
      id,
      method,
      params: progress ? withProgress(params, id) : params,
    };
  }

  #post(
    body: SentMessage,
    headers: Headers,
    options: { signal?: AbortSignal; keepalive?: boolean },
  ): Promise<Response> {
    const accept = { Accept: 'application/json, text/event-stream', ...headers };
    return this.#service.ask('', { method: 'POST', headers: accept, body, ...options });
  }
}

/**
 * Answers a request of the server. This client declares no capabilities, so the server may send only a ping (MCP,
 * ping).
 */
function replyTo({ id, method }: JsonRpcMessage): SentMessage {
  if (method === 'ping') return { jsonrpc: '2.0', id, result: {} };
  return {
    jsonrpc: '2.0',
    id,
    error: { code: METHOD_NOT_FOUND, message: 'This client does not support this method.' },
  };
}

function resultOf({ result, error }: JsonRpcMessage): unknown {
  if (error === undefined) return result;
  throw new ClientError('refused', error.message, { facts: { code: String(error.code) } });
}

function abortedError(message: string): ClientError {
  return new ClientError('aborted', message);
}

function withProgress({ _meta: meta, ...params }: Params, progressToken: number): Params {
  return { ...params, _meta: { ...meta, progressToken } };
}

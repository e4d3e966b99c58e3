/**
 * Manages the MCP sessions over HTTP, for the older MCP revisions. A session starts with `initialize`. Each later
 * request names its session in a header. A session ends with DELETE, or after a long time without requests. Only a
 * DELETE counts as a disconnect of the client.
 *
 * Invariants
 * - The number of sessions is limited. At the limit, the session that was idle for the longest time ends. A session in
 *   use never ends.
 * - A session is in use while it has an open HTTP exchange, such as a stream.
 */
import { randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  isJSONRPCRequest,
  WebStandardStreamableHTTPServerTransport,
  type RequestId,
} from '@modelcontextprotocol/server';
import type { McpServer } from '@modelcontextprotocol/server';
import type { ClientConnection } from '../../sessions/delegating-clients.ts';
import { CancelledMcpCalls } from '../../mcp/cancelled-calls/cancelled-calls.ts';
import { SeenResults } from '../../mcp/tool/seen-results.ts';
import type { ServedMcpClient } from '../../mcp/tool/tool-serving-context.ts';
import { type HttpExchangeEnd, HttpSentReplies } from './http-sent-replies.ts';
import { rpcErrorResponse } from './rpc-error.ts';
import { RedeliveryStore } from './redelivery-store.ts';

export const MCP_SESSION_HEADER = 'mcp-session-id';

export interface McpSessionLimits {
  /** The maximum number of sessions at the same time. */
  most: number;
  /** The maximum time without requests in milliseconds, after which a session ends. */
  idleMs: number;
}

export const DEFAULT_MCP_SESSION_LIMITS: McpSessionLimits = { most: 100, idleMs: 30 * 60_000 };

/** The delay in milliseconds before a client resumes a broken stream. The server sends this value with each stream. */
const RETRY_MS = 1_000;
/** The value of `Retry-After` in seconds, if every session is in use. */
const RETRY_AFTER_SECONDS = 30;

interface McpSession {
  transport: WebStandardStreamableHTTPServerTransport;
  events: RedeliveryStore;
  receipts: HttpSentReplies;
  /** The number of HTTP exchanges that are open now. */
  open: number;
  lastUsed: number;
}

interface HttpExchange {
  request: Request;
  /** The parsed body of the request. Undefined if it has none. */
  body: unknown;
  /** Resolves when the response is written, or when the client has disconnected. */
  over: Promise<HttpExchangeEnd>;
}

interface SessionCallbacks {
  serve: (client: ServedMcpClient) => McpServer;
  /** Called when the client ends its session with DELETE. */
  onLeft: (connection: ClientConnection) => void;
}

export class McpSessions {
  readonly #callbacks: SessionCallbacks;
  readonly #limits: McpSessionLimits;
  readonly #now: () => number;
  readonly #sessions = new Map<string, McpSession>();
  /** The number of sessions that are starting. They count towards the limit. */
  #beginning = 0;
  #sweep: NodeJS.Timeout | undefined;

  /** @param now returns the time of a monotonic clock in milliseconds */
  constructor(
    callbacks: SessionCallbacks,
    limits: McpSessionLimits = DEFAULT_MCP_SESSION_LIMITS,
    now: () => number = () => performance.now(),
  ) {
    this.#callbacks = callbacks;
    this.#limits = limits;
    this.#now = now;
  }

  get size(): number {
    return this.#sessions.size;
  }

  async answer(exchange: HttpExchange): Promise<Response> {
    const id = exchange.request.headers.get(MCP_SESSION_HEADER);
    if (id === null && isInitializeRequest(exchange.body)) return this.#begin(exchange);
    if (id === null)
      return rpcErrorResponse(
        400,
        'Send initialize first, and the Mcp-Session-Id of its answer with each request.',
      );
    const session = this.#sessions.get(id);
    // MCP 2025-11-25, Streamable HTTP, session management 3: after 404, the client sends `initialize` again.
    if (session === undefined) {
      return rpcErrorResponse(
        404,
        'This MCP session has ended: the bridge was restarted, or the session was idle for too long. Send initialize again. Tasks continue.',
        { code: -32_001 },
      );
    }
    return this.#answerInSession(session, exchange);
  }

  /** Ends the sessions that had no requests for longer than `idleMs`. */
  endIdle(): void {
    const before = this.#now() - this.#limits.idleMs;
    for (const [id, session] of this.#idleSessions()) if (session.lastUsed <= before) this.#end(id, session);
  }

  close(): void {
    clearInterval(this.#sweep);
    for (const [id, session] of this.#sessions) this.#end(id, session);
  }

  async #begin(exchange: HttpExchange): Promise<Response> {
    if (this.#sessions.size + this.#beginning >= this.#limits.most && !this.#makeRoom()) {
      return rpcErrorResponse(
        503,
        'This bridge already serves its maximum number of clients. Try again later.',
        {
          headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
        },
      );
    }
    const events = new RedeliveryStore();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: events,
      retryInterval: RETRY_MS,
      onsessioninitialized: (id) => {
        this.#sessions.set(id, session);
      },
      onsessionclosed: (id) => {
        this.#sessions.delete(id);
        receipts.confirm();
        this.#callbacks.onLeft(connection);
      },
    });
    const connection = { isDisconnected: false };
    const receipts = new HttpSentReplies();
    const session: McpSession = { transport, events, receipts, open: 0, lastUsed: this.#now() };
    const server = this.#callbacks.serve({
      connection,
      withdrawals: new CancelledMcpCalls(),
      // Undefined, because the MCP revisions with sessions have no tasks extension.
      followed: undefined,
      receipts,
      seen: new SeenResults(),
      unattended: false,
      // A cancelled tool call gets no reply, so nothing else would end its stream.
      released: (requestId) => {
        events.forget(requestId);
        transport.closeSSEStream(requestId);
      },
    });
    this.#sweep ??= setInterval(() => this.endIdle(), this.#limits.idleMs / 10).unref();
    this.#beginning += 1;
    try {
      await server.connect(transport);
      return await this.#answerInSession(session, exchange);
    } finally {
      this.#beginning -= 1;
    }
  }

  #answerInSession(session: McpSession, { request, body, over }: HttpExchange): Promise<Response> {
    session.open += 1;
    session.lastUsed = this.#now();
    void this.#release(session, { over, requests: requestsAnsweredTo(session, request, body) });
    endLostStream(session, request);
    return session.events.during(requestIdIn(body), () =>
      session.transport.handleRequest(request, body === undefined ? {} : { parsedBody: body }),
    );
  }

  async #release(
    session: McpSession,
    { over, requests }: { over: Promise<HttpExchangeEnd>; requests: readonly RequestId[] },
  ): Promise<void> {
    const end = await over;
    if (end === 'answered') for (const request of requests) session.receipts.written(request);
    session.open -= 1;
    session.lastUsed = this.#now();
  }

  #makeRoom(): boolean {
    const [oldest] = this.#idleSessions().toSorted(([, a], [, b]) => a.lastUsed - b.lastUsed);
    if (oldest !== undefined) this.#end(...oldest);
    return oldest !== undefined;
  }

  #idleSessions(): [string, McpSession][] {
    return [...this.#sessions].filter(([, { open }]) => open === 0);
  }

  /** Ends the session and its streams. Its open requests end as after a disconnect. */
  #end(id: string, { transport, receipts }: McpSession): void {
    this.#sessions.delete(id);
    receipts.confirm();
    void transport.close();
  }
}

/**
 * Ends the old connection of a stream that the client wants to resume. The bridge might not have noticed yet that this
 * connection is lost, and the SDK refuses a second reader of the same stream. If the event id is unknown, the SDK sends
 * an error, so no connection is ended.
 */
function endLostStream({ events, transport }: McpSession, request: Request): void {
  const lastEventId = request.headers.get('last-event-id');
  if (request.method !== 'GET' || lastEventId === null) return;
  const stream = events.streamOf(lastEventId);
  if (stream?.type === 'get') transport.closeStandaloneSSEStream();
  if (stream?.type === 'response') transport.closeSSEStream(stream.request);
}

/**
 * Returns the ids of the requests whose replies this response contains. The response to a POST contains the replies to
 * the requests in its body. The response to a GET contains the reply of the stream that it resumes.
 */
function requestsAnsweredTo({ events }: McpSession, request: Request, body: unknown): readonly RequestId[] {
  if (request.method === 'POST')
    return [body].flat().flatMap((message) => (isJSONRPCRequest(message) ? [message.id] : []));
  const stream = events.streamOf(request.headers.get('last-event-id') ?? '');
  return stream?.type === 'response' ? [stream.request] : [];
}

function requestIdIn(body: unknown): RequestId | undefined {
  return isJSONRPCRequest(body) ? body.id : undefined;
}

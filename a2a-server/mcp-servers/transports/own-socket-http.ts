/**
 * Sends HTTP requests to one MCP server over separate sockets, which `destroy` can close. X3: bodies have a size limit.
 * Streams have no idle time limit, because each tool call has its own limit. Node's own `fetch` would stop after 300 s
 * without a byte.
 */
import { Agent, fetch as undiciFetch } from 'undici';
import { createSseLimiter, readBoundedBytes, SseEventLimit } from '../../../shared/net/bounded-body.ts';
import { MAX_MCP_MESSAGE_BYTES } from './server-transport.ts';

const CONNECT_LIMIT_MS = 10_000;

export interface OwnSocketHttp {
  /** A `fetch` for the SDK's transports. It does not follow redirects. */
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Aborts every request and closes every socket. */
  destroy(): Promise<void>;
}

export function openOwnSocketHttp(headers: Readonly<Record<string, string>>): OwnSocketHttp {
  const dispatcher = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_LIMIT_MS },
    // Each request uses a new socket, because the server may already have closed an old one. The outcome of a tool
    // call on a closed socket would be unknown.
    pipelining: 0,
  });
  return {
    fetch: async (url, init = {}) => {
      const all = new Headers(init.headers ?? {});
      for (const [name, value] of Object.entries(headers)) all.set(name, value);
      const response = await undiciFetch(url, {
        method: init.method ?? 'GET',
        headers: Object.fromEntries(all),
        ...(typeof init.body === 'string' && { body: init.body }),
        ...(init.signal && { signal: init.signal }),
        redirect: 'manual',
        dispatcher,
      });
      return toBoundedResponse(response);
    },
    destroy: () => dispatcher.destroy(),
  };
}

/** Converts undici's response to Node's `Response`, which the SDK expects. Limits the size of the body. */
async function toBoundedResponse(answer: Awaited<ReturnType<typeof undiciFetch>>): Promise<Response> {
  const { status, statusText, body } = answer;
  const head = { status, statusText, headers: new Headers([...answer.headers]) };
  if (body === null || [204, 205, 304].includes(status)) return new Response(null, head);
  const events = head.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (!events) return new Response(await readBoundedBytes(body, MAX_MCP_MESSAGE_BYTES), head);
  const limiter = createSseLimiter(new SseEventLimit(MAX_MCP_MESSAGE_BYTES));
  return new Response(body.pipeThrough(limiter), head);
}

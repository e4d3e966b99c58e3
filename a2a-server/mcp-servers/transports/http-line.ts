/**
 * HTTP to one MCP server: sockets of its own, which are all gone when it is closed; bodies within bounds (X3); and no limit on
 * silence, for a stream lasts as long as its client, and a call as long as its own time limit says. (Node's own `fetch` gives
 * up after 300 s without a byte.)
 */
import { Agent, fetch as undiciFetch } from 'undici';
import { boundedBytes, boundEvents } from '../../../shared/bounded-body.ts';
import { MAX_MESSAGE } from './server-transport.ts';

/** Until a connection is there, in milliseconds. */
const CONNECT_MS = 10_000;

export interface HttpLine {
  /** As the SDK's transports call it. Redirects are left to the caller. */
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Ends every request and closes every socket. */
  destroy(): Promise<void>;
}

export function openHttpLine(headers: Readonly<Record<string, string>>): HttpLine {
  const dispatcher = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_MS },
    // A socket for each request: one that is used again may have been closed by then, and a call that was posted into it would
    // be lost without anybody knowing whether it had arrived.
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
      return bounded(response);
    },
    destroy: () => dispatcher.destroy(),
  };
}

/** What `undici` answers, as one of Node's own, of which the SDK's types are. */
async function bounded(answer: Awaited<ReturnType<typeof undiciFetch>>): Promise<Response> {
  const { status, statusText, body } = answer;
  const head = { status, statusText, headers: new Headers([...answer.headers]) };
  if (body === null || [204, 205, 304].includes(status)) return new Response(null, head);
  const events = head.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  if (!events) return new Response(await boundedBytes(body, MAX_MESSAGE, failing), head);
  return new Response(body.pipeThrough(boundEvents({ maxEventBytes: MAX_MESSAGE }, failing)), head);
}

function failing(message: string): Error {
  return new Error(message);
}

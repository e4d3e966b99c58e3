/**
 * `fetch` for answers that may be silent for a long time. Node's own `fetch` fails after 300 s without a byte. Here
 * only the caller limits the silence. This function follows no redirect.
 */
import type { Agent } from 'undici';

/** Time limit to connect, in milliseconds. */
const CONNECT_MS = 10_000;

/** Loads `undici` with the first request: the import takes too long for the bridge's start. */
let dispatcher: Promise<Agent> | undefined;

async function makeDispatcher(): Promise<Agent> {
  const { Agent } = await import('undici');
  return new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: CONNECT_MS } });
}

/** The body is a string. */
export async function fetchWithoutIdleLimit(
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  const { method = 'GET', body = null, signal, redirect = 'error' } = init;
  if (body !== null && typeof body !== 'string') throw new TypeError('the body has to be a string');
  const { fetch: send } = await import('undici');
  const answer = await send(input instanceof Request ? input.url : input, {
    method,
    headers: Object.fromEntries(new Headers(init.headers)),
    ...(body !== null && { body }),
    ...(signal && { signal }),
    redirect,
    dispatcher: await (dispatcher ??= makeDispatcher()),
  });
  const { status, statusText } = answer;
  const head = { status, statusText, headers: new Headers([...answer.headers]) };
  return new Response([204, 205, 304].includes(status) ? null : answer.body, head);
}

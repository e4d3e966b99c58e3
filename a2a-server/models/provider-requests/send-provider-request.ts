/**
 * Sends one request to a model provider.
 *
 * - The request follows no redirect. `fetch` would send the key in headers such as `x-api-key` to the other host too.
 * - The request has no time limit of its own, because each model call has one (`modelTimeout`). A local model may read
 *   a long prompt for more than the 300 s after which Node's own `fetch` stops. TCP keep-alive detects a vanished host.
 * - X3: the response has a size limit. An endless response would fill the memory.
 * - If there is a proxy, the request goes through a tunnel (RFC 9110 §9.3.6, CONNECT). For an `https:` URL, the proxy
 *   sees only the host name.
 */
import {
  Agent,
  fetch as undiciFetch,
  ProxyAgent,
  type Dispatcher,
  type Response as UndiciResponse,
} from 'undici';
import { createSseLimiter, SseEventLimit } from '../../../shared/net/bounded-body.ts';
import { parseUrl } from '../../../shared/net/parse-url.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';

const NO_TIME_LIMITS = { headersTimeout: 0, bodyTimeout: 0 };

const MEGABYTE = 1024 * 1024;
/** This limit is high, because the last event of some APIs repeats the whole answer. */
const MAX_EVENT_BYTES = 16 * MEGABYTE;
const MAX_ANSWER_BYTES = 256 * MEGABYTE;

/** The pooled connections, by the proxy's URL. The key is undefined for requests without a proxy. */
const dispatchers = new Map<string | undefined, Dispatcher>();

/**
 * @param init its body must be a string
 * @throws ProductError AGENT_ERROR if the endpoint redirects, or if the proxy refuses the request
 * @throws TypeError like `fetch` for other failures
 */
export async function sendProviderRequest(url: URL, init: RequestInit = {}, proxy?: URL): Promise<Response> {
  const { method = 'GET', headers, body = null, signal } = init;
  if (body !== null && typeof body !== 'string') throw new TypeError('the body has to be a string');
  const answer = await undiciFetch(url, {
    dispatcher: dispatcherFor(proxy),
    redirect: 'manual',
    method,
    headers: Object.fromEntries(new Headers(headers)),
    ...(body !== null && { body }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    throw proxyRefusal(error) ?? error;
  });
  const location = answer.headers.get('location');
  if (answer.status >= 300 && answer.status < 400 && location !== null) {
    await answer.body?.cancel();
    throw redirectError(url, parseUrl(location, url));
  }
  return toBoundedResponse(answer, url);
}

function dispatcherFor(proxy: URL | undefined): Dispatcher {
  const known = dispatchers.get(proxy?.href);
  if (known !== undefined) return known;
  const dispatcher =
    proxy === undefined ? new Agent(NO_TIME_LIMITS) : new ProxyAgent({ ...NO_TIME_LIMITS, uri: proxy.href });
  dispatchers.set(proxy?.href, dispatcher);
  return dispatcher;
}

/** The message omits the query of the target, because it may contain a code of a sign-in. */
function redirectError(from: URL, to: URL | undefined): ProductError {
  return new ProductError(
    'AGENT_ERROR',
    `The endpoint ${from.origin} redirects to ${to === undefined ? 'another address' : to.origin + to.pathname}. The server does not follow, because the request contains the key. Correct the base URL of the provider, or sign in at its gateway.`,
  );
}

/**
 * Returns the error if the proxy refuses the credentials (407) or the host (403). A retry does not help then. For any
 * other status, a retry may help.
 */
function proxyRefusal(error: unknown): ProductError | undefined {
  const status = proxyStatus(error);
  if (status === '407')
    return proxyRefusedError(
      status,
      'Check the user and the password in HTTPS_PROXY or HTTP_PROXY, and restart the server.',
    );
  if (status === '403')
    return proxyRefusedError(
      status,
      'Ask its operator to allow the host of the provider, or list the host in NO_PROXY.',
    );
  return undefined;
}

/** Returns the status of the proxy's answer. undici gives this status only in the message of a cause. */
function proxyStatus(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const status = /^Proxy response \((\d+)\)/.exec(cause.message)?.[1];
    if (status !== undefined) return status;
  }
  return undefined;
}

function proxyRefusedError(status: string, advice: string): ProductError {
  return new ProductError('AGENT_ERROR', `The proxy refused the request (${status}). ${advice}`, {
    facts: { status },
  });
}

/**
 * Converts undici's response to Node's `Response`, which the AI SDK expects, and limits its size. The SDK reads each
 * successful answer as events, whatever its media type is. So each event and the whole answer have a limit. The SDK
 * reads an error response as a whole. So the response ends after a maximum number of bytes.
 */
function toBoundedResponse({ ok, status, statusText, headers, body }: UndiciResponse, url: URL): Response {
  const hasNoBody = body === null || [204, 205, 304].includes(status);
  const limiter = ok
    ? createSseLimiter(new SseEventLimit(MAX_EVENT_BYTES, MAX_ANSWER_BYTES), (problem) =>
        tooLargeError(url, problem),
      )
    : endAfter(MEGABYTE);
  const bounded = hasNoBody ? null : body.pipeThrough(limiter);
  return new Response(bounded, { status, statusText, headers: new Headers([...headers]) });
}

/** Cuts off an error response after `maxBytes`. The caller still gets its status, which decides about a retry. */
function endAfter(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let rest = maxBytes;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, rest));
      rest -= chunk.length;
      if (rest <= 0) controller.terminate();
    },
  });
}

function tooLargeError({ origin }: URL, problem: string): ProductError {
  return new ProductError('AGENT_ERROR', `The answer of ${origin} was cut off: ${problem}.`);
}

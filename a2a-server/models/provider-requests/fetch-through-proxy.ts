/**
 * Sends a request through a tunnel of an HTTP proxy (RFC 9110 §9.3.6, CONNECT). For an `https:` URL, the proxy sees
 * only the host name.
 */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { fetch as undiciFetch, ProxyAgent, type Response as UndiciResponse } from 'undici';

/** The pooled connections, by the proxy's URL. */
const agents = new Map<string, ProxyAgent>();

/**
 * @param init its body must be a string
 * @throws ProductError AGENT_ERROR if the proxy refuses the request; TypeError like `fetch` for other failures
 */
export async function fetchThroughProxy(proxy: URL, url: URL, init: RequestInit = {}): Promise<Response> {
  const { method = 'GET', headers, body = null, signal } = init;
  if (body !== null && typeof body !== 'string') throw new TypeError('the body has to be a string');
  const agent = agents.get(proxy.href) ?? new ProxyAgent({ uri: proxy.href });
  agents.set(proxy.href, agent);
  const answer = await undiciFetch(url, {
    dispatcher: agent,
    method,
    headers: Object.fromEntries(new Headers(headers)),
    ...(body !== null && { body }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    throw refusal(error) ?? error;
  });
  return asNodeResponse(answer);
}

/**
 * Returns the error if the proxy refuses the credentials (407) or the host (403). A retry does not help then. For any
 * other status, a retry may help.
 */
function refusal(error: unknown): ProductError | undefined {
  const status = proxyStatus(error);
  if (status === '407')
    return refused(
      status,
      'Check the user and the password in HTTPS_PROXY or HTTP_PROXY, and restart the server.',
    );
  if (status === '403')
    return refused(
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

function refused(status: string, advice: string): ProductError {
  return new ProductError('AGENT_ERROR', `The proxy refused the request (${status}). ${advice}`, {
    facts: { status },
  });
}

function asNodeResponse({ status, statusText, headers, body }: UndiciResponse): Response {
  const hasNoBody = [204, 205, 304].includes(status);
  return new Response(hasNoBody ? null : body, { status, statusText, headers: new Headers([...headers]) });
}

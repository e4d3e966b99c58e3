/**
 * Sends a request through an HTTP proxy, in a tunnel (RFC 9110 §9.3.6, CONNECT). So the proxy sees only the host name of
 * an `https:` URL.
 */
import { fetch as undiciFetch, ProxyAgent, type Response as UndiciResponse } from 'undici';

/** The connections of each proxy. */
const agents = new Map<string, ProxyAgent>();

/** @param init its body is a string, as model requests have */
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
  });
  return asNodeResponse(answer);
}

function asNodeResponse({ status, statusText, headers, body }: UndiciResponse): Response {
  const hasNoBody = [204, 205, 304].includes(status);
  return new Response(hasNoBody ? null : body, { status, statusText, headers: new Headers([...headers]) });
}

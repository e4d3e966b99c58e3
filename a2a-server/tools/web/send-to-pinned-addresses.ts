import { Agent, request, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import type { Agent as SecureAgent } from 'node:https';
import { readPackageVersion } from '../../../shared/runtime/version.ts';
import { pinnedLookup } from './resolve-checked-host.ts';

/** The product token for robots.txt files (RFC 9309 §2.2.1). */
export const ROBOTS_PRODUCT_TOKEN = 'mcp-a2a-bridge';

const USER_AGENT = `${ROBOTS_PRODUCT_TOKEN}/${readPackageVersion()}`;

export const MAX_HEADER_BYTES = 32 * 1024;

/**
 * `keepAlive: false` makes each request open a connection to its own checked addresses. X2: these agents use no proxy,
 * because a proxy would resolve the name again, without the check of its addresses. The global agent can use a proxy
 * from the environment (NODE_USE_ENV_PROXY).
 */
const agent = new Agent({ keepAlive: false });
let secureAgent: SecureAgent | undefined;

/**
 * Sends a GET to one of the checked addresses. Sends no cookies, credentials or referrer. See `sendToPinnedAddresses`.
 */
export function sendGetToPinnedAddresses(
  url: URL,
  { accept, ...rest }: Pick<CheckedRequest, 'addresses' | 'signal'> & { accept: string },
): Promise<IncomingMessage> {
  return sendToPinnedAddresses(url, {
    ...rest,
    method: 'GET',
    headers: { accept, 'accept-encoding': 'gzip, br' },
  });
}

interface CheckedRequest {
  method: 'GET' | 'POST';
  addresses: readonly string[];
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** Aborts the connection, the request and the body. */
  signal: AbortSignal;
}

/**
 * Sends a request to one of the checked addresses. Resolves with the response head. The caller must read or destroy the
 * body. Follows no redirect.
 * @throws the errors of `node:http`
 */
export async function sendToPinnedAddresses(
  url: URL,
  { method, addresses, headers, body, signal }: CheckedRequest,
): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? await secureRequest() : plainRequest;
  const sent = send(url, {
    method,
    headers: { 'User-Agent': USER_AGENT, ...headers },
    lookup: pinnedLookup(addresses),
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
    signal,
  });
  return new Promise((resolve, reject) => {
    sent.on('response', resolve);
    // The listener stays after the response. The body reports later errors too, but Node throws if `error` has no
    // listener.
    sent.on('error', reject);
    sent.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new Error(`${url.host} wants to switch to another protocol.`));
    });
    sent.end(body);
  });
}

type SendRequest = (url: URL, options: RequestOptions) => ClientRequest;

const plainRequest: SendRequest = (url, options) => request(url, { ...options, agent });

/**
 * Loads Node's TLS only at the first HTTPS request. Without this delay, the server's start would be noticeably slower.
 */
async function secureRequest(): Promise<SendRequest> {
  const https = await import('node:https');
  secureAgent ??= new https.Agent({ keepAlive: false });
  // `rejectUnauthorized` is explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
  return (url, options) => https.request(url, { ...options, agent: secureAgent, rejectUnauthorized: true });
}

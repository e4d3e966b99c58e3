import {
  Agent as PlainAgent,
  request as plainRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { packageVersion } from '../../../shared/runtime/version.ts';
import { pinnedLookup } from './resolve-checked-host.ts';

/** The product token for robots.txt files (RFC 9309 §2.2.1). */
export const ROBOT = 'mcp-a2a-bridge';

const USER_AGENT = `${ROBOT}/${packageVersion()}`;

export const MAX_HEADER_BYTES = 32 * 1024;

/**
 * `keepAlive: false` makes each request open a connection to its own checked addresses. X2: these agents use no proxy,
 * because a proxy would resolve the name again, without the check of its addresses. The global agent can use a proxy
 * from the environment (NODE_USE_ENV_PROXY).
 */
const plain = new PlainAgent({ keepAlive: false });
const secure = new SecureAgent({ keepAlive: false });

/** Sends a GET to one of the checked addresses. Sends no cookies, credentials or referrer. See `sendToChecked`. */
export function sendGet(
  url: URL,
  { accept, ...rest }: Pick<CheckedRequest, 'addresses' | 'signal'> & { accept: string },
): Promise<IncomingMessage> {
  return sendToChecked(url, {
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
export function sendToChecked(
  url: URL,
  { method, addresses, headers, body, signal }: CheckedRequest,
): Promise<IncomingMessage> {
  const options: RequestOptions = {
    method,
    headers: { 'User-Agent': USER_AGENT, ...headers },
    lookup: pinnedLookup(addresses),
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
    signal,
  };
  return new Promise((resolve, reject) => {
    const sent =
      url.protocol === 'https:'
        ? // This option is explicit, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
          secureRequest(url, { ...options, agent: secure, rejectUnauthorized: true })
        : plainRequest(url, { ...options, agent: plain });
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

/** Sends one GET request to checked addresses. The request does not identify the user. */
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
 * The agents have `keepAlive: false`, so that each connection goes to the addresses of its own check. They use no
 * proxy, because a proxy resolves the name again (X2). The global agent can use a proxy from the environment
 * (NODE_USE_ENV_PROXY).
 */
const plain = new PlainAgent({ keepAlive: false });
const secure = new SecureAgent({ keepAlive: false });

/**
 * Resolves with the response head. The caller must read or destroy the body. Sends no cookies, credentials or referrer.
 * @param options.signal ends connection, request and body
 * @throws the errors of `node:http`
 */
export function sendGet(
  url: URL,
  { addresses, accept, signal }: { addresses: readonly string[]; accept: string; signal: AbortSignal },
): Promise<IncomingMessage> {
  const options: RequestOptions = {
    method: 'GET',
    headers: { 'User-Agent': USER_AGENT, Accept: accept, 'Accept-Encoding': 'gzip, br' },
    lookup: pinnedLookup(addresses),
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
    signal,
  };
  return new Promise((resolve, reject) => {
    const sent =
      url.protocol === 'https:'
        ? // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
          secureRequest(url, { ...options, agent: secure, rejectUnauthorized: true })
        : plainRequest(url, { ...options, agent: plain });
    sent.on('response', resolve);
    // This listener stays after the response. Later errors also reach the body, but an error without a listener would
    // throw.
    sent.on('error', reject);
    // Refuse a server that wants another protocol.
    sent.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new Error(`${url.host} wants to switch to another protocol.`));
    });
    sent.end();
  });
}

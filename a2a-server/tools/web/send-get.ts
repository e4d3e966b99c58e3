/** One GET request, to addresses that were found good, with nothing in it that names this user. */
import {
  Agent as PlainAgent,
  request as plainRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { packageVersion } from '../../../shared/version.ts';
import { pinned } from './reach.ts';

/** The product token that robots.txt files may name (RFC 9309 §2.2.1). */
export const ROBOT = 'mcp-a2a-bridge';

const USER_AGENT = `${ROBOT}/${packageVersion()}`;

export const MAX_HEADER_BYTES = 32 * 1024;

/**
 * Agents of our own: no connection is used twice, so that each goes where its own check has said, and none goes through a
 * proxy, which would resolve the name again and connect where it likes (X2). The global one may be told so by the
 * environment (NODE_USE_ENV_PROXY).
 */
const plain = new PlainAgent({ keepAlive: false });
const secure = new SecureAgent({ keepAlive: false });

/**
 * Resolves with the answer's head; its body is there to be read, or destroyed. No cookies, no credentials, no referrer.
 * @param options.signal ends connection, request and body.
 * @throws what `node:http` emits.
 */
export function sendGet(
  url: URL,
  { addresses, accept, signal }: { addresses: readonly string[]; accept: string; signal: AbortSignal },
): Promise<IncomingMessage> {
  const options: RequestOptions = {
    method: 'GET',
    headers: { 'User-Agent': USER_AGENT, Accept: accept, 'Accept-Encoding': 'gzip, br' },
    lookup: pinned(addresses),
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
    signal,
  };
  return new Promise((resolve, reject) => {
    const sent =
      url.protocol === 'https:'
        ? // Whatever the environment says (NODE_TLS_REJECT_UNAUTHORIZED).
          secureRequest(url, { ...options, agent: secure, rejectUnauthorized: true })
        : plainRequest(url, { ...options, agent: plain });
    sent.on('response', resolve);
    // Stays: what befalls the connection later is the body's to report, and must find a listener here as well.
    sent.on('error', reject);
    // A server that wants to speak another protocol gets no say.
    sent.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new Error(`${url.host} wants to switch to another protocol.`));
    });
    sent.end();
  });
}

import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { readBoundedBytes } from './bounded-body.ts';
import { errorMessageOf, errorCode } from '../runtime/errors.ts';
import {
  type IdentityClaim,
  IDENTITY_PATH,
  identityAnswerSchema,
  newNonce,
  isSameProof,
  serverProof,
} from './server-proof.ts';
import { parseJson } from '../text/parse-json.ts';

type ServerProof =
  | ({ type: 'proven' } & IdentityClaim)
  /** No program listens at the URL. */
  | { type: 'down' }
  /** Another program listens at the URL, or the server does not respond in time. */
  | { type: 'unproven'; message: string };

const MAX_ANSWER_BYTES = 4_096;
const NOT_LISTENING: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ECONNRESET']);

/**
 * Asks the program at a URL to prove that it is this user's A2A server. X1: another program must not get the token, so
 * the request does not contain it.
 * @param timeoutMs the time limit for the whole response
 */
export async function requestServerProof(
  url: string,
  token: string,
  timeoutMs: number,
): Promise<ServerProof> {
  const nonce = newNonce();
  try {
    const { status, socket, text } = await requestText(
      new URL(`${IDENTITY_PATH}?nonce=${nonce}`, url),
      timeoutMs,
    );
    if (status !== 200)
      return unprovenResult(`it answered HTTP ${String(status)} to a request for its proof`);
    const parsed = identityAnswerSchema.safeParse(parseJson(text));
    if (!parsed.success) return unprovenResult('its answer to a request for its proof is not valid');
    const { proof, ...claim } = parsed.data;
    return isSameProof(proof, serverProof(token, claim, { ...socket, nonce }))
      ? { type: 'proven', ...claim }
      : unprovenResult('it does not prove that it knows the token of this state directory');
  } catch (error) {
    return NOT_LISTENING.has(errorCode(error) ?? '')
      ? { type: 'down' }
      : unprovenResult(errorMessageOf(error));
  }
}

function unprovenResult(message: string): ServerProof {
  return { type: 'unproven', message };
}

interface ProofResponse {
  status: number;
  /** The server's address and port of this connection. */
  socket: { address: string; port: number };
  text: string;
}

/**
 * Sends a GET request. It does not use `fetch`, which does not report the address of its socket. In newer versions of
 * Node, `fetch` may also send the request to a proxy that the environment names.
 */
function requestText(url: URL, timeoutMs: number): Promise<ProofResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent: false });
    // This is a timer, because `AbortSignal.timeout` does not keep the process alive while the request is open.
    const timer = setTimeout(
      () => outgoing.destroy(new Error(`it did not answer within ${String(timeoutMs / 1000)} s`)),
      timeoutMs,
    );
    outgoing.once('close', () => clearTimeout(timer));
    outgoing.once('error', reject);
    outgoing.once('response', (incoming) => {
      const { remoteAddress: address = '', remotePort: port = 0 } = incoming.socket;
      textOf(incoming).then(
        (text) => resolve({ status: incoming.statusCode ?? 0, socket: { address, port }, text }),
        reject,
      );
    });
    outgoing.end();
  });
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const bytes = await readBoundedBytes(
    incoming,
    MAX_ANSWER_BYTES,
    () => new Error('its answer to a request for its proof is too long'),
  );
  return new TextDecoder().decode(bytes);
}

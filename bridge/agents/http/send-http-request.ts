/**
 * Sends one HTTP request with `node:http`, which needs a quarter of the CPU time of `fetch`. It sets no time limit for
 * the body, because the caller sets one. (Node's `fetch` fails after 300 s without a byte.) It does not follow
 * redirects.
 */
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Socket } from 'node:net';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { onAbort } from '../../../shared/runtime/abort.ts';

/** The time limit for a new connection in milliseconds. It includes the TLS handshake. */
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * The time in milliseconds after which an idle pooled socket is closed. Many servers close idle sockets after 5 s.
 * The bridge closes them earlier, because a request must not use a socket that its server closes at the same moment.
 */
const MAX_IDLE_MS = 4_000;

/**
 * How a request uses sockets.
 *
 * - `pooled`: later requests may reuse the socket.
 * - `own`: for agents that abort their work when the socket of the request ends (see `Hazards`). The socket stays open
 *   until the bridge has read the response. Then the bridge resets the socket (RST) instead of ending it (FIN). A
 *   socket with TLS cannot be reset, so it is ended. If the bridge is killed, the kernel ends the socket. This code
 *   cannot prevent that.
 * - `single`: no later request reuses the socket. It ends (FIN) after the response.
 */
export type SocketUse = 'pooled' | 'own' | 'single';

export interface HttpRequest {
  url: string;
  method: string;
  /** The header names are in lower case. */
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal?: AbortSignal | undefined;
  sockets: SocketUse;
  /** The time limit in milliseconds until the response headers arrive. */
  beginningMs?: number | undefined;
}

export interface HttpAnswer {
  status: number;
  statusText: string;
  /** The names are in lower case. */
  headers: ReadonlyMap<string, string>;
  /** The decompressed body. The caller must read all of it, or call `discard`. */
  body: Readable;
  /** Frees the socket without reading the rest of the body. */
  discard: () => void;
  /** Converts an error of the body to the error that the caller throws. */
  failure: (cause: unknown) => unknown;
}

/**
 * An idle socket is closed only after `MAX_IDLE_MS`. The number of idle sockets is not limited. With a limit, two
 * hundred streams that end at the same time would also close their sockets at the same time. Each close blocks the
 * event loop.
 */
const POOL_OPTIONS = { keepAlive: true, timeout: MAX_IDLE_MS, maxFreeSockets: Number.MAX_SAFE_INTEGER };
const pool = new HttpAgent(POOL_OPTIONS);
const securePool = new HttpsAgent(POOL_OPTIONS);

const DEFAULT_HEADERS = {
  accept: '*/*',
  'accept-encoding': 'gzip, deflate, br',
  'user-agent': 'mcp-a2a-bridge',
};
/** The decoder returns the data that has arrived, even if the stream ends early. */
const FLUSH_OPTIONS = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };

/**
 * Sends the request and waits for the response headers.
 * @throws the abort reason of the signal; a TimeoutError after `beginningMs`; a TypeError like that of `fetch`, with
 * the socket's error as its cause
 */
export function sendHttpRequest(request: HttpRequest): Promise<HttpAnswer> {
  const { signal, sockets, beginningMs } = request;
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const outgoing = requestOn(new URL(request.url), request);
    const discard = (): void => (sockets === 'own' ? reset(outgoing) : void outgoing.destroy());
    const giveUp = (reason: unknown): void => {
      reject(reason);
      discard();
    };
    const stopListening = signal && onAbort(signal, () => giveUp(signal.reason));
    const late = beginningMs !== undefined && setTimeout(() => giveUp(timeoutError()), beginningMs);
    const failure = (cause: unknown): unknown =>
      signal?.aborted === true ? signal.reason : new TypeError('terminated', { cause });
    outgoing.on('socket', (socket) => limitConnecting(socket, outgoing));
    outgoing.on('error', (cause) => reject(new TypeError('fetch failed', { cause })));
    outgoing.on('close', () => {
      stopListening?.();
      if (late) clearTimeout(late);
    });
    outgoing.on('response', (incoming) => {
      if (late) clearTimeout(late);
      if (sockets === 'own') incoming.once('end', discard);
      try {
        const head = headOf(incoming);
        resolve({ ...head, body: decompressBody(incoming, head), discard, failure });
      } catch (error) {
        giveUp(error);
      }
    });
    outgoing.end(request.body);
  });
}

function requestOn(url: URL, { method, headers, sockets }: HttpRequest): ClientRequest {
  const options: RequestOptions = { method, headers: { ...DEFAULT_HEADERS, ...headers } };
  // With keep-alive, Node does not end the socket itself when the response is complete.
  const keepAlive = sockets === 'own';
  if (url.protocol === 'https:') {
    const agent = sockets === 'pooled' ? securePool : new HttpsAgent({ keepAlive });
    return httpsRequest(url, { ...options, agent });
  }
  const agent = sockets === 'pooled' ? pool : new HttpAgent({ keepAlive });
  return httpRequest(url, { ...options, agent });
}

/** Ends the request if its socket does not connect in time. A reused socket is already connected. */
function limitConnecting(socket: Socket, outgoing: ClientRequest): void {
  if (!socket.connecting) return;
  const timer = setTimeout(() => outgoing.destroy(new ConnectTimeoutError()), CONNECT_TIMEOUT_MS);
  const stop = (): void => clearTimeout(timer);
  socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', stop).once('close', stop);
}

function headOf(incoming: IncomingMessage): Pick<HttpAnswer, 'status' | 'statusText' | 'headers'> {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = incoming;
  const headers = new Map<string, string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    const value = rawHeaders[at + 1] ?? '';
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return { status, statusText, headers };
}

function decompressBody(incoming: IncomingMessage, { headers }: Pick<HttpAnswer, 'headers'>): Readable {
  // `incoming.headers` is not used, because Node would build a second object with all headers.
  const decoder = decoderFor(headers.get('content-encoding') ?? 'identity');
  if (decoder === undefined) return incoming;
  // The callback ignores the error, because the reader of the decoder receives it too.
  return pipeline(incoming, decoder, () => undefined);
}

function decoderFor(encoding: string): Transform | undefined {
  switch (encoding.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip(FLUSH_OPTIONS);
    case 'deflate':
      return createInflate(FLUSH_OPTIONS);
    case 'br':
      return createBrotliDecompress();
    default:
      return undefined;
  }
}

/** Resets the socket of the request (RST). A TLS socket cannot be reset, so it is closed normally. */
function reset(outgoing: ClientRequest): void {
  const { socket } = outgoing;
  if (socket instanceof Socket && !(socket instanceof TLSSocket)) socket.resetAndDestroy();
  outgoing.destroy();
}

function timeoutError(): DOMException {
  return new DOMException('The answer did not start in time', 'TimeoutError');
}

/**
 * Thrown if the socket does not connect in time. The error names the system call `connect`, so `isConnectFailure` knows
 * that nothing was sent.
 */
class ConnectTimeoutError extends Error {
  readonly code = 'ETIMEDOUT';
  readonly syscall = 'connect';
  override readonly message = `no connection within ${String(CONNECT_TIMEOUT_MS / 1000)} s`;
}

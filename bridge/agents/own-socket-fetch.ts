/**
 * `fetch` for agents that abort their work when the request's socket ends (see `Hazards`). Each request has its own
 * socket. The socket stays open until the bridge has read the answer. Then the bridge resets the socket (RST). A pooled
 * socket could end earlier (FIN). A killed process cannot reset its sockets: the kernel ends them.
 */
import {
  Agent as HttpAgent,
  type ClientRequest,
  type IncomingMessage,
  request as httpRequest,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { onAbort } from '../../shared/runtime/abort.ts';

/** For JSON-RPC requests: the body is a string, and a redirect is an error. */
export function ownSocketFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  const { method = 'GET', body = null, signal } = init;
  if (body !== null && typeof body !== 'string') throw new TypeError('the body has to be a string');
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const options = { method, headers: Object.fromEntries(new Headers(init.headers)) };
    // Keep-alive stops Node from ending the socket when the answer is complete.
    const outgoing =
      url.protocol === 'https:'
        ? httpsRequest(url, { ...options, agent: new HttpsAgent({ keepAlive: true }) })
        : httpRequest(url, { ...options, agent: new HttpAgent({ keepAlive: true }) });
    const stop = signal ? onAbort(signal, () => calledOff()) : () => undefined;
    const calledOff = (): void => {
      reset(outgoing);
      reject(new DOMException('This request was called off', 'AbortError'));
    };
    outgoing.on('error', (cause) => {
      stop();
      reject(new TypeError('fetch failed', { cause }));
    });
    outgoing.on('close', stop);
    outgoing.on('response', (incoming) => {
      if (isRedirect(incoming)) {
        reset(outgoing);
        reject(new TypeError('fetch failed', { cause: new Error('the agent redirects a POST') }));
      } else resolve(responseOf(incoming, outgoing));
    });
    outgoing.end(body ?? undefined);
  });
}

function responseOf(incoming: IncomingMessage, outgoing: ClientRequest): Response {
  const { statusCode: status = 0, statusMessage: statusText = '' } = incoming;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers))
    for (const each of [value ?? []].flat()) headers.append(name, each);
  if (status === 204 || status === 205 || status === 304) {
    incoming.resume().once('end', () => reset(outgoing));
    return new Response(null, { status, statusText, headers });
  }
  return new Response(bodyOf(incoming, outgoing), { status, statusText, headers });
}

function bodyOf(incoming: IncomingMessage, outgoing: ClientRequest): ReadableStream<Uint8Array> {
  let over = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      incoming.on('data', (chunk: Uint8Array) => {
        if (over) return;
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 0) <= 0) incoming.pause();
      });
      incoming.once('end', () => {
        reset(outgoing);
        if (over) return;
        over = true;
        controller.close();
      });
      incoming.on('error', (cause) => {
        if (over) return;
        over = true;
        controller.error(new TypeError('terminated', { cause }));
      });
      incoming.pause();
    },
    pull: () => void incoming.resume(),
    cancel() {
      over = true;
      reset(outgoing);
    },
  });
}

/** A TLS socket cannot be reset: it is closed normally. */
function reset(outgoing: ClientRequest): void {
  const { socket } = outgoing;
  if (socket instanceof Socket && !(socket instanceof TLSSocket)) socket.resetAndDestroy();
  outgoing.destroy();
}

function isRedirect({ statusCode = 0, headers }: IncomingMessage): boolean {
  return statusCode >= 300 && statusCode < 400 && headers.location !== undefined;
}

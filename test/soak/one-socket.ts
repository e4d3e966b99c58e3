/** Sends HTTP requests one after the other over the same connection. */
import { Agent, request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

interface SocketRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: OutgoingHttpHeaders;
  body?: string;
}

/**
 * The server closes a connection that is idle for 5 s, Node's default. So this client leaves a connection idle for
 * less, in milliseconds.
 */
const IDLE_LIMIT = 3_500;

export class OneSocket {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: string;
  #socket: Socket | undefined;
  #lastUsed = -Infinity;

  constructor(url: string) {
    this.#url = url;
  }

  /** @returns the response. The caller reads it to its end before the next request. @throws if the connection has closed */
  ask({ method, path, headers, body }: SocketRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const outgoing = request(new URL(path, this.#url), {
        method,
        agent: this.#agent,
        headers: { ...headers, ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }) },
      });
      outgoing.once('socket', (socket) => {
        if (performance.now() - this.#lastUsed > IDLE_LIMIT) this.#socket = socket;
        if (socket !== this.#socket) outgoing.destroy(new Error('the connection was not kept alive'));
      });
      outgoing.once('response', (response) => {
        response.once('end', () => (this.#lastUsed = performance.now()));
        resolve(response);
      });
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** HTTP requests, one after the other, over one and the same connection. */
import { Agent, request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

interface SocketRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: OutgoingHttpHeaders;
  body?: string;
}

/**
 * A connection that was idle for longer may be closed: the server's limit is Node's own, 5 s, and Node's client keeps away
 * from it by a second. Milliseconds.
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

  /** @returns the response, to be read to its end before the next request. @throws when the connection was not kept. */
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

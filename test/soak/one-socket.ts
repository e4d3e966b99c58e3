/** HTTP requests, one after the other, over one and the same connection. */
import { Agent, request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

export interface SocketRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: OutgoingHttpHeaders;
  body?: string;
}

export class OneSocket {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: string;
  #socket: Socket | undefined;

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
        this.#socket ??= socket;
        if (socket !== this.#socket) outgoing.destroy(new Error('the connection was not kept alive'));
      });
      outgoing.once('response', resolve);
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

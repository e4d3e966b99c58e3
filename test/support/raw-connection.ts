/**
 * An HTTP/1.1 connection over a raw socket, for tests about how a connection ends: kept alive, closed, reset or
 * half-closed. It reads only on demand and buffers at most one read of the socket.
 */
import { afterEach } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ByteReader } from './byte-reader.ts';

interface RawRequest {
  method: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
}

export interface RawResponse {
  status: number;
  /** Header values by lower-case name. */
  headers: ReadonlyMap<string, string>;
  /**
   * Read the body to its end before the next request on the connection. Throws if the connection ends before the body.
   */
  body: AsyncGenerator<Buffer, void, undefined>;
}

const open = new Set<RawConnection>();

afterEach(() => {
  for (const connection of open) connection.destroy();
});

export class RawConnection {
  readonly #socket: Socket;
  readonly #bytes: ByteReader;
  readonly #host: string;
  /** Resolves when both sides have closed. */
  readonly closed: Promise<void>;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    // A reset is no test failure here. The next read reports it.
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    this.#bytes = new ByteReader(socket);
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port, host } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const connection = new RawConnection(socket, host);
    open.add(connection);
    void connection.closed.then(() => open.delete(connection));
    await once(socket, 'connect');
    return connection;
  }

  write({ method, path, headers, body = '' }: RawRequest): void {
    const bytes = Buffer.from(body);
    const lines = [
      `${method} ${path} HTTP/1.1`,
      ...Object.entries({
        Host: this.#host,
        ...headers,
        ...(bytes.length > 0 && { 'Content-Length': String(bytes.length) }),
      }).map(([name, value]) => `${name}: ${value}`),
    ];
    this.#socket.write(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]));
  }

  /** Reads the next response up to its body. */
  async response(): Promise<RawResponse> {
    const [, status] = (await this.#bytes.line()).split(' ');
    const headers = new Map<string, string>();
    for (let line = await this.#bytes.line(); line !== ''; line = await this.#bytes.line()) {
      const colon = line.indexOf(':');
      headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
    }
    const chunked = headers.get('transfer-encoding') === 'chunked';
    const body = chunked ? this.#chunks() : this.#exactly(Number(headers.get('content-length') ?? 0));
    return { status: Number(status), headers, body };
  }

  /** Sends FIN and keeps reading. */
  halfClose(): void {
    this.#socket.end();
  }

  /** Sends RST. Data in transit in both directions is lost. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Waits for the other side's FIN. Throws if data arrives first. */
  async ended(): Promise<void> {
    const more = await this.#bytes.some(1);
    if (more !== undefined) throw new Error(`more came after the end: ${more.toString()}`);
    this.#socket.end();
    await this.closed;
  }

  async *#chunks(): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      const size = Number.parseInt(await this.#bytes.line(), 16);
      yield* this.#exactly(size);
      await this.#bytes.line();
      if (size === 0) return;
    }
  }

  async *#exactly(size: number): AsyncGenerator<Buffer, void, undefined> {
    for (let left = size; left > 0;) {
      const bytes = await this.#bytes.some(left);
      if (bytes === undefined) throw new Error('the connection ended in the middle of a body');
      left -= bytes.length;
      yield bytes;
    }
  }
}

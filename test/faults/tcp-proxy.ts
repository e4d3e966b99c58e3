/**
 * A TCP proxy that treats each connection as the test requests: cut at a byte, half-closed, reset, stalled, delayed,
 * throttled or doubled.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * What happens to a connection after the given number of bytes. A stalled connection stays open and carries no more
 * bytes.
 */
export type CutKind = 'reset' | 'end' | 'half-close' | 'stall';

/** `up` is the direction to the server, `down` the direction to the client. */
export type Direction = 'up' | 'down';

export interface Cut {
  /** The proxy counts the bytes in this direction. */
  direction: Direction;
  /** The number of bytes before the cut. */
  after: number;
  how: CutKind;
}

export interface Treatment {
  cut?: Cut;
  /** The delay before each piece, in milliseconds. */
  delayMs?: number;
  /** The maximum size of a piece, in bytes. */
  piece?: number;
  /** Sends the client's bytes to this port too, and ignores the answers there. */
  copyTo?: number;
}

export class TcpProxy {
  /** The test sets this function. It returns the treatment of each new connection. */
  treat: () => Treatment = () => ({});
  onCut: (cut: Cut) => void = () => undefined;
  onBytes: (direction: Direction, count: number) => void = () => undefined;
  target = 0;
  /** While true, the proxy drops all bytes to clients. */
  mute = false;
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** The stalled connections, by their client's socket. */
  readonly #stalled = new WeakSet<Socket>();

  private constructor(server: Server, { port }: AddressInfo) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}`;
    server.on('connection', (client) => this.#connected(client));
  }

  static async listen(): Promise<TcpProxy> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
    return new TcpProxy(server, address);
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.hangUp();
    await closed;
  }

  /** Closes all connections. */
  hangUp(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #connected(client: Socket): void {
    const treatment = this.treat();
    const server = this.#open(this.target);
    const twin = treatment.copyTo === undefined ? undefined : this.#open(treatment.copyTo);
    twin?.resume();
    this.#hold(client);
    const both = { client, server, twin };
    void this.#pump('up', both, treatment);
    void this.#pump('down', both, treatment);
  }

  #open(port: number): Socket {
    return this.#hold(connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true }));
  }

  #hold(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }

  async #pump(
    direction: Direction,
    { client, server, twin }: { client: Socket; server: Socket; twin: Socket | undefined },
    { cut, delayMs, piece = Infinity }: Treatment,
  ): Promise<void> {
    const [from, to] = direction === 'up' ? [client, server] : [server, client];
    let left = cut?.direction === direction ? cut.after : Infinity;
    try {
      for await (const chunk of from) {
        if (!Buffer.isBuffer(chunk)) continue;
        for (let at = 0; at < chunk.length;) {
          if (delayMs !== undefined) await pause(delayMs);
          const bytes = chunk.subarray(at, at + Math.min(piece, left, chunk.length - at));
          at += bytes.length;
          left -= bytes.length;
          if (direction === 'up') twin?.write(bytes);
          this.onBytes(direction, bytes.length);
          const dropped =
            bytes.length === 0 || this.#stalled.has(client) || (this.mute && direction === 'down');
          if (!dropped && !to.write(bytes)) await drained(to);
          if (left > 0 || cut === undefined) continue;
          this.onCut(cut);
          this.#cut(cut.how, { client, server, to });
          if (cut.how !== 'stall') twin?.destroy();
          // The other side must be able to send all its bytes, so the proxy reads and drops them.
          if (cut.how === 'half-close' || cut.how === 'stall') for await (const _ of from);
          return;
        }
      }
      to.end();
      if (direction === 'up') twin?.end();
    } catch {
      // One side has reset its connection. So the proxy also resets the other connection.
      client.destroy();
      server.destroy();
      twin?.destroy();
    }
  }

  #cut(how: CutKind, { client, server, to }: { client: Socket; server: Socket; to: Socket }): void {
    switch (how) {
      case 'reset':
        client.resetAndDestroy();
        server.resetAndDestroy();
        return;
      case 'end':
        client.destroySoon();
        server.destroySoon();
        return;
      case 'half-close':
        to.end();
        return;
      case 'stall':
        this.#stalled.add(client);
    }
  }
}

async function drained(socket: Socket): Promise<void> {
  await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
}

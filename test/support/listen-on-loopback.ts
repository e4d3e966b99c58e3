/** Starts a server of a test on loopback, and ends it with all its connections. */
import { once } from 'node:events';
import type { Server, Socket } from 'node:net';

export interface LoopbackAddress {
  port: number;
  /** Without a scheme, e.g. `127.0.0.1:4711`. */
  host: string;
  /** Destroys all connections. Resolves when the port is free. */
  readonly close: () => Promise<void>;
}

/**
 * `closeAllConnections` of node:http does not close tunnels and TLS handshakes. The server would wait for them, so `close`
 * destroys every socket.
 * @param port 0: any free port
 */
export async function listenOnLoopback(server: Server, port = 0): Promise<LoopbackAddress> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    port: address.port,
    host: `127.0.0.1:${address.port}`,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An HTTP proxy on loopback that opens tunnels (RFC 9110 §9.3.6, CONNECT). It leads each tunnel to 127.0.0.1. */
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listenOnLoopback } from './listen-on-loopback.ts';

export interface TunnelProxy {
  /** Without a scheme, e.g. `127.0.0.1:4711`. */
  host: string;
  /** The tunnels so far: the requested target, e.g. `api.example:443`, and the `Proxy-Authorization` header. */
  tunnels: { target: string; authorization: string | undefined }[];
  close(): Promise<void>;
}

/** @param required the credentials `user:password` that the proxy requires */
export async function startTunnelProxy(required?: string): Promise<TunnelProxy> {
  const tunnels: TunnelProxy['tunnels'] = [];
  const server = createServer((_request, response) => void response.writeHead(405).end());
  server.on('connect', (request, socket: Socket) => {
    const authorization = request.headers['proxy-authorization'];
    tunnels.push({ target: request.url ?? '', authorization });
    socket.on('error', () => socket.destroy());
    if (required !== undefined && authorization !== `Basic ${Buffer.from(required).toString('base64')}`) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    const target = connect(Number(request.url?.split(':').at(-1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    target.on('error', () => socket.destroy());
    socket.once('close', () => target.destroy());
  });
  const { host, close } = await listenOnLoopback(server);
  return { host, tunnels, close };
}

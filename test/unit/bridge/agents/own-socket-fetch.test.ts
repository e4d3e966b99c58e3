import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { requestFailure } from '../../../../bridge/agents/failure.ts';
import { ownSocketFetch } from '../../../../bridge/agents/own-socket-fetch.ts';

describe('a request on its own socket', () => {
  let server: Server;
  let serve: RequestListener;
  let sockets: Socket[];
  /** How each socket was closed. */
  let endings: ('ended' | 'reset')[];

  beforeEach(async () => {
    sockets = [];
    // Each test has its own server, because a test's last socket may close during the next test.
    const own: typeof endings = [];
    endings = own;
    serve = (_, response) => response.end('{}');
    server = createServer((request, response) => serve(request, response));
    server.on('connection', (socket: Socket) => {
      sockets.push(socket);
      let how: 'ended' | 'reset' = 'reset';
      socket.once('end', () => (how = 'ended'));
      socket.once('close', () => {
        own.push(how);
        server.emit('gone');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  function url(): string {
    const address = server.address();
    return `http://127.0.0.1:${String(typeof address === 'object' && address !== null ? address.port : 0)}/`;
  }
  const post = (init: RequestInit = {}): Promise<Response> =>
    ownSocketFetch(url(), { method: 'POST', body: '{"a":1}', ...init });

  test('returns the answer, and resets the socket after it', async () => {
    let heard = '';
    serve = (request, response) => {
      request.on('data', (chunk) => (heard += String(chunk)));
      request.on('end', () => response.writeHead(201, { 'x-y': 'z', 'content-type': 'a/b' }).end('answer'));
    };
    const gone = once(server, 'gone');
    const response = await post({ headers: { accept: 'a/b' } });
    expect([response.status, response.headers.get('x-y'), await response.text()]).toEqual([
      201,
      'z',
      'answer',
    ]);
    expect(heard).toBe('{"a":1}');
    await gone;
    expect(endings).toEqual(['reset']);
  });

  test('shares its socket with no other request', async () => {
    await Promise.all([post(), post()].map(async (each) => (await each).text()));
    await (await post()).text();
    expect(sockets).toHaveLength(3);
  });

  test('resets its socket when the body is cancelled or the signal aborts', async () => {
    serve = (_, response) => response.write('piece');
    const response = await post();
    const first = once(server, 'gone');
    await response.body?.cancel();
    await first;
    const controller = new AbortController();
    const begun = await post({ signal: controller.signal });
    const second = once(server, 'gone');
    controller.abort();
    await second;
    await expect(begun.text()).rejects.toThrow();
    expect(endings).toEqual(['reset', 'reset']);
  });

  test('is not sent if its signal has already aborted', async () => {
    await expect(Promise.resolve().then(() => post({ signal: AbortSignal.abort() }))).rejects.toThrow();
    expect(sockets).toHaveLength(0);
  });

  test('R63 fails like fetch: a reset before the answer, a reset within it, a redirect, a refused connection', async () => {
    serve = (request) => request.socket.resetAndDestroy();
    const broken = await post().catch((error: unknown) => error);
    expect(requestFailure(broken, 'a')).toMatchObject({
      arrival: 'maybe',
      error: { reason: 'AGENT_UNREACHABLE' },
    });
    serve = (_, response) => {
      response.write('piece');
      response.socket?.resetAndDestroy();
    };
    await expect(post().then((response) => response.text())).rejects.toThrow(TypeError);
    serve = (_, response) => response.writeHead(302, { location: '/other' }).end();
    await expect(post()).rejects.toThrow(TypeError);
    const away = url();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
    const refused = await ownSocketFetch(away, { method: 'POST', body: '' }).catch((error: unknown) => error);
    expect(requestFailure(refused, 'a').arrival).toBe('no');
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  test('S3 a body that is not read is not buffered', async () => {
    const piece = Buffer.alloc(64 * 1024);
    let written = 0;
    serve = (_, response) => {
      const more = (): void => {
        while (written < 64 * 1024 * 1024) {
          written += piece.length;
          if (!response.write(piece)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    };
    const response = await post();
    const reader = response.body?.getReader();
    await reader?.read();
    // The server has filled the kernel's buffers, and waits.
    expect(written).toBeLessThan(32 * 1024 * 1024);
    await reader?.cancel();
  });
});

import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSilentServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { requestFailure } from '../../../../../bridge/agents/request-failure.ts';
import {
  sendHttpRequest,
  type HttpAnswer,
  type HttpRequest,
} from '../../../../../bridge/agents/http/send-http-request.ts';
import { listenOnLoopback } from '../../../../support/listen-on-loopback.ts';

describe('an HTTP exchange', () => {
  let server: Server;
  let serve: RequestListener;
  let sockets: Socket[];
  /** Records how each socket was closed. */
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
  const post = (more: Partial<HttpRequest> = {}): Promise<HttpAnswer> =>
    sendHttpRequest({
      url: url(),
      method: 'POST',
      headers: {},
      body: '{"a":1}',
      sockets: 'own',
      ...more,
    });

  test('an own socket is reset after the answer, and serves no other request', async () => {
    let heard = '';
    serve = (request, response) => {
      request.on('data', (chunk) => (heard += String(chunk)));
      request.on('end', () => response.writeHead(201, { 'x-y': 'z', 'content-type': 'a/b' }).end('answer'));
    };
    const gone = once(server, 'gone');
    const answer = await post({ headers: { accept: 'a/b' } });
    expect([answer.status, answer.headers.get('x-y'), await text(answer.body)]).toEqual([201, 'z', 'answer']);
    expect(heard).toBe('{"a":1}');
    await gone;
    expect(endings).toEqual(['reset']);
    serve = (_, response) => response.end('{}');
    await Promise.all([post(), post()].map(async (each) => text((await each).body)));
    expect(sockets).toHaveLength(3);
  });

  test('requests share pooled sockets; the pool ends a socket that stays idle', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
    try {
      for (let each = 0; each < 3; each += 1) await text((await post({ sockets: 'pooled' })).body);
      expect(sockets).toHaveLength(1);
      const gone = once(server, 'gone');
      await jest.advanceTimersByTimeAsync(4_000);
      await gone;
      expect(endings).toEqual(['ended']);
      await text((await post({ sockets: 'pooled' })).body);
      expect(sockets).toHaveLength(2);
    } finally {
      jest.useRealTimers();
    }
  });

  test('a single socket ends after the answer, even if the server would keep it', async () => {
    serve = (_, response) => response.writeHead(200, { connection: 'keep-alive' }).end('{}');
    const gone = once(server, 'gone');
    await text((await post({ sockets: 'single' })).body);
    await text((await post({ sockets: 'single' })).body);
    await gone;
    expect(sockets).toHaveLength(2);
    expect(endings[0]).toBe('ended');
  });

  test('an own socket is reset when its answer is discarded or the signal aborts', async () => {
    serve = (_, response) => response.write('piece');
    const answer = await post();
    const first = once(server, 'gone');
    answer.discard();
    await first;
    const controller = new AbortController();
    const begun = await post({ signal: controller.signal });
    const second = once(server, 'gone');
    controller.abort();
    await second;
    await expect(text(begun.body)).rejects.toThrow();
    expect(begun.failure(undefined)).toBe(controller.signal.reason);
    expect(endings).toEqual(['reset', 'reset']);
  });

  test('a request is not sent if its signal has already aborted', () => {
    expect(() => post({ signal: AbortSignal.abort() })).toThrow();
    expect(sockets).toHaveLength(0);
  });

  test('R63 a request fails like fetch: on a reset before or within the answer, or a refused connection', async () => {
    serve = (request) => request.socket.resetAndDestroy();
    const broken = await post().catch((error: unknown) => error);
    expect(requestFailure(broken, 'a')).toMatchObject({
      arrival: 'maybe',
      error: { reason: 'AGENT_UNREACHABLE' },
    });
    serve = (_, response) => response.write('piece');
    const answer = await post();
    const read = text(answer.body).catch((error: unknown) => error);
    sockets.at(-1)?.resetAndDestroy();
    expect(requestFailure(answer.failure(await read), 'a').arrival).toBe('maybe');
    const away = url();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
    const refused = await post({ url: away }).catch((error: unknown) => error);
    expect(requestFailure(refused, 'a').arrival).toBe('no');
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  test('a TLS handshake without an answer ends as a failed connection, so nothing was sent', async () => {
    const silent = createSilentServer();
    const { host, close } = await listenOnLoopback(silent);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
    try {
      const connected = once(silent, 'connection');
      const asked = post({ url: `https://${host}/`, sockets: 'pooled' }).catch((error: unknown) => error);
      await connected;
      await jest.advanceTimersByTimeAsync(10_000);
      const { arrival, error } = requestFailure(await asked, 'a');
      expect([arrival, error.message]).toEqual([
        'no',
        expect.stringContaining('cannot be reached (ETIMEDOUT)'),
      ]);
    } finally {
      jest.useRealTimers();
      await close();
    }
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('a body in %s is decompressed', async (encoding, compress) => {
    serve = (_, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(compress('{"a":"long"}'));
    expect(await text((await post({ sockets: 'pooled' })).body)).toBe('{"a":"long"}');
  });
});

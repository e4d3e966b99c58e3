/** Tests requests of a client that sends FIN right after its request, while the server still checks its token. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { startServer, userMessage } from './test-server.ts';
import type { TestServer } from './test-server.ts';

const REQUEST_START = 'http.server.request.start';

let server: TestServer;
let received: Promise<unknown>;

const awaitFin = (started: unknown): void => {
  const { socket } = z.object({ socket: z.instanceof(EventEmitter) }).parse(started);
  received = once(socket, 'end');
};

beforeEach(async () => {
  subscribe(REQUEST_START, awaitFin);
  server = await startServer({
    limits: { bytes: 1_000, depth: 8 },
    async verifyJwt() {
      await received;
      return { principal: 'acme/ann', roles: ['delegate'] };
    },
  });
  server.tasks.onSend = () => {
    throw new ProductError('SHUTTING_DOWN', 'the test needs no task');
  };
});
afterEach(async () => {
  unsubscribe(REQUEST_START, awaitFin);
  await server.close();
});

/** Sends the request and FIN at once. Returns the whole response. */
async function send(path: string, headers: string, body: string): Promise<string> {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer header.claims.signature\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`,
  );
  return text(socket);
}

const message = userMessage('hi');
const CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: message });
const MESSAGE = JSON.stringify(message);

test.each([
  ['/', CALL],
  ['/message:send', MESSAGE],
])('E4 the server reads the body of a half-closed request to %p', async (path, body) => {
  const answer = await send(path, `Content-Length: ${Buffer.byteLength(body)}`, body);
  expect(answer).toContain('the test needs no task');
  expect(server.tasks.received).toMatchObject([{ principal: 'acme/ann' }]);
});

test('E4 the server reads the chunked body of a half-closed request', async () => {
  const chunks = `${CALL.length.toString(16)}\r\n${CALL}\r\n0\r\n\r\n`;
  expect(await send('/', 'Transfer-Encoding: chunked', chunks)).toContain('the test needs no task');
  expect(server.tasks.received).toMatchObject([{ principal: 'acme/ann' }]);
});

test('X3 a half-closed request with a body that is too large gets the error "too large"', async () => {
  const body = 'x'.repeat(2_000);
  expect(await send('/', `Content-Length: ${body.length}`, body)).toMatch(/^HTTP\/1.1 413 .*TOO_LARGE/s);
});

test('a half-closed request without a body gets the error for an empty body', async () => {
  expect(await send('/', 'Content-Length: 0', '')).toContain('The request has no body');
});

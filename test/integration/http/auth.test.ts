import { beforeAll, describe, expect, test } from '@jest/globals';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { OTHER_TOKEN, request, rpc, startServer, TOKEN, userMessage } from './test-server.ts';
import type { TestServer } from './test-server.ts';

let server: TestServer;
beforeAll(async () => (server = await startServer()));

const ROUTES = [
  { method: 'GET', path: '/health' },
  { method: 'POST', path: '/' },
  { method: 'POST', path: '/message:send' },
  { method: 'POST', path: '/message:stream' },
  { method: 'GET', path: '/tasks' },
  { method: 'GET', path: '/tasks/task-1' },
  { method: 'GET', path: '/tasks/task-1:subscribe' },
  { method: 'POST', path: '/tasks/task-1:cancel' },
  { method: 'GET', path: '/extendedAgentCard' },
  { method: 'POST', path: '/v1/message:send' },
  { method: 'GET', path: '/v1/tasks/task-1' },
  { method: 'POST', path: '/api/tools/abort/tool-1' },
  { method: 'GET', path: '/api/tasks/task-1/events' },
  { method: 'POST', path: '/api/tasks/task-1/events/ticket' },
  { method: 'POST', path: '/page/links' },
  { method: 'GET', path: '/page/api/tasks' },
  { method: 'GET', path: '/no/such/address' },
];

/** Sends a request with headers that `fetch` does not allow. */
function raw(headers: Record<string, string>, path = '/health'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        port: server.port,
        host: '127.0.0.1',
        path,
        headers: { authorization: `Bearer ${TOKEN}`, ...headers },
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

describe('authentication over HTTP', () => {
  test.each(ROUTES)('X1 $method $path requires a token', async ({ method, path }) => {
    for (const authorization of [
      undefined,
      '',
      'Bearer',
      'Basic abc',
      'Bearer wrong-token-0123456789',
      TOKEN,
    ]) {
      const answer = await request(server, { method, path, headers: { authorization } });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
      expect(answer.text).toContain('UNAUTHENTICATED');
    }
  });

  test('X1 the agent card needs no token, in either version', async () => {
    const path = '/.well-known/agent-card.json';
    const modern = await request(server, { method: 'GET', path, headers: { authorization: undefined } });
    expect(modern.status).toBe(200);
    expect(modern.body).toMatchObject({
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
      supportedInterfaces: [
        { protocolBinding: 'JSONRPC', protocolVersion: '1.0', url: server.url },
        { protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
        { protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        { protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
      ],
    });
    const old = await request(server, {
      method: 'GET',
      path,
      headers: { authorization: undefined, 'a2a-version': undefined },
    });
    expect(old.body).toMatchObject({
      protocolVersion: '0.3',
      url: server.url,
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    });
    const etag = modern.headers.get('etag') ?? '';
    expect(await raw({ 'if-none-match': etag, 'a2a-version': '1.0' }, path)).toBe(304);
  });

  test('X1 the agent card is also at the path of A2A 0.2, without a token', async () => {
    const headers = { authorization: undefined, 'a2a-version': undefined };
    const answers = await Promise.all(
      ['/.well-known/agent.json', '/.well-known/agent-card.json'].map((path) =>
        request(server, { method: 'GET', path, headers }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[0]?.body).toEqual(answers[1]?.body);
  });

  test('X1 tokens are never logged', async () => {
    await rpc(server, 'GetTask', { id: 'task-nobody-has' });
    await request(server, { path: '/health', headers: { authorization: 'Bearer wrong-token-0123456789' } });
    expect(server.logged()).not.toContain(TOKEN);
    expect(server.logged()).not.toContain('wrong-token');
  });

  test('X1 the text of a message is never logged', async () => {
    const configuration = { returnImmediately: true };
    await rpc(server, 'SendMessage', { ...userMessage('a-private-sentence'), configuration });
    expect(server.tasks.received.at(-1)).toMatchObject({
      message: { parts: [{ text: 'a-private-sentence' }] },
    });
    expect(server.logged()).not.toContain('a-private-sentence');
  });

  test('X1 the log contains each refused token or host with the sender’s address', async () => {
    const before = server.logged().length;
    await request(server, {
      path: '/health?secret=1',
      headers: { authorization: 'Bearer wrong-token-9876543210' },
    });
    await raw({ host: 'evil.example' }, '/tasks');
    const lines = server.logged().slice(before).trim().split('\n');
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { status: 401, method: 'POST', path: '/health', from: '127.0.0.1', msg: 'a request was refused' },
      { status: 403, method: 'GET', path: '/tasks', from: '127.0.0.1' },
    ]);
    expect(lines.join('')).not.toMatch(/secret|wrong-token/);
  });

  test.each([
    ['localhost', 200],
    ['LOCALHOST:1', 200],
    ['127.0.0.1', 200],
    ['127.9.9.9:80', 200],
    ['[::1]:8080', 200],
    ['evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['localhost.evil.example', 403],
    ['localhost@evil.example', 403],
    ['127.0.0.1 evil.example', 403],
    ['0.0.0.0', 403],
  ])('X1 a request for the host %p gets %p', async (host, status) => {
    expect(await raw({ host })).toBe(status);
  });

  test.each(['HTTP/1.0', 'HTTP/1.1'])('X1 a request of %s without a host gets no answer', async (version) => {
    const socket = connect(server.port, '127.0.0.1');
    socket.end(`GET /health ${version}\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`);
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    expect(answer).toMatch(/^HTTP\/1.1 40[03] /);
  });

  test('X1 the server refuses a request with two hosts', async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.end(
      `GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`,
    );
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
  });

  test('X1 a request for the agent card with a wrong host is refused too', async () => {
    expect(await raw({ host: 'evil.example' }, '/.well-known/agent-card.json')).toBe(403);
  });

  test.each(['http://evil.example', 'null', 'http://localhost:3000'])(
    'X1 a browser page of %p may not call the server',
    async (origin) => {
      expect(await raw({ origin })).toBe(403);
    },
  );

  test('X1 the server accepts hosts and origins from the operator’s list', async () => {
    const open = await startServer({
      allowedHosts: { publicHosts: ['agent.example'], origins: ['https://console.example'] },
    });
    const answer = await request(open, {
      method: 'GET',
      path: '/health',
      headers: { origin: 'https://console.example' },
    });
    expect(answer.status).toBe(200);
  });

  test('X1 a task of another principal gives exactly the same error as an unknown task', async () => {
    const { taskId } = server.tasks.begin();
    const stranger = { authorization: `Bearer ${OTHER_TOKEN}` };
    for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask']) {
      const theirs = await rpc(server, method, { id: taskId }, stranger);
      const unknown = await rpc(server, method, { id: 'task-0' }, stranger);
      expect(theirs.body).toMatchObject({ error: { code: -32001 } });
      expect(theirs.text.replaceAll(taskId, 'task-0')).toBe(unknown.text);
    }
    expect(await rpc(server, 'ListTasks', {}, stranger)).toMatchObject({
      body: { result: { totalSize: 0 } },
    });
    expect(server.tasks.cancelled).toEqual([]);
  });

  test('the journal records a message under the principal of its token', async () => {
    await rpc(
      server,
      'SendMessage',
      { ...userMessage('hi'), configuration: { returnImmediately: true } },
      {
        authorization: `Bearer ${OTHER_TOKEN}`,
      },
    );
    expect(server.tasks.received.at(-1)).toMatchObject({ principal: 'other' });
  });

  test('R49 while the server closes, it refuses requests with 503 and a retry time', async () => {
    server.setClosing(true);
    for (const path of ['/', '/message:send', '/tasks/task-1', '/api/tools/abort/x']) {
      const answer = await request(server, { path, body: '{}' });
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('2');
      expect(answer.text).toContain('SHUTTING_DOWN');
    }
    server.setClosing(false);
  });
});

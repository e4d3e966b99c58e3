/** Tests versions, addresses, statuses and media types of the A2A bindings. */
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { ErrorReason } from '../../../shared/runtime/errors.ts';
import { allowedMethods } from '../../../a2a-server/http/routes/methods-and-roles.ts';
import { request, rpc, startServer, TOKEN, userMessage } from './test-server.ts';
import type { TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => (server = await startServer()));

const OLD = { 'a2a-version': undefined };
const CARD = '/.well-known/agent-card.json';

/** A2A 1.0 §11.6: every error has these details. */
const ERROR_INFO = {
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  domain: expect.stringMatching(/./),
  reason: expect.stringMatching(/^[A-Z_]+$/),
};

const start = (): string => server.tasks.begin().taskId;

describe('the task list', () => {
  test('leaves out a task that was deleted after the query of the index', async () => {
    const [deleted, kept] = [start(), start()];
    const { tasks } = server;
    const snapshot = tasks.listedSnapshot.bind(tasks);
    jest
      .spyOn(tasks, 'listedSnapshot')
      .mockImplementation(async (row) => (row.taskId === deleted ? undefined : snapshot(row)));
    const list = await request(server, { method: 'GET', path: '/tasks' });
    expect([list.status, list.body]).toMatchObject([200, { tasks: [{ id: kept }] }]);
  });
});

describe('the A2A version of a request', () => {
  test('the query parameter A2A-Version has the same effect as the header, on both bindings', async () => {
    const id = start();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } });
    const overRpc = await request(server, { path: '/?A2A-Version=1.0', body, headers: OLD });
    expect(overRpc.body).toMatchObject({ result: { id, status: { state: 'TASK_STATE_SUBMITTED' } } });
    const overRest = await request(server, {
      method: 'GET',
      path: `/tasks/${id}?A2A-Version=1.0`,
      headers: OLD,
    });
    expect(overRest.body).toMatchObject({ id, status: { state: 'TASK_STATE_SUBMITTED' } });
    const list = await request(server, { method: 'GET', path: '/tasks?a2a-version=1.0', headers: OLD });
    expect(list.body).toMatchObject({ totalSize: 1 });
    const card = await request(server, { method: 'GET', path: `${CARD}?A2A-Version=1.0`, headers: OLD });
    expect(card.body).toHaveProperty('supportedInterfaces');
    const unserved = await request(server, {
      method: 'GET',
      path: `/tasks/${id}?A2A-Version=7.1`,
      headers: OLD,
    });
    expect(unserved.text).toContain('VERSION_NOT_SUPPORTED');
  });

  test('the server ignores the patch number of the version', async () => {
    const answer = await request(server, {
      method: 'GET',
      path: `/tasks/${start()}`,
      headers: { 'a2a-version': '1.0.1' },
    });
    expect(answer.status).toBe(200);
  });

  test('if header and query parameter differ, the version in the header is used', async () => {
    const answer = await request(server, { method: 'GET', path: `/tasks/${start()}?A2A-Version=7.1` });
    expect(answer.status).toBe(200);
  });

  test.each(['/tasks', '/tasks/x', '/message:send', '/message:stream'])(
    'a request of A2A 0.3 to %s gets no response in the format of 1.0',
    async (path) => {
      const method = path.startsWith('/tasks') ? 'GET' : 'POST';
      const sent = method === 'POST' ? { body: JSON.stringify(userMessage('hi')) } : {};
      for (const version of [undefined, '', '0.3']) {
        const answer = await request(server, { method, path, headers: { 'a2a-version': version }, ...sent });
        expect(answer.status).toBe(400);
        expect(answer.text).toContain('VERSION_NOT_SUPPORTED');
        expect(answer.text).toContain('/v1');
      }
      expect(server.tasks.received).toEqual([]);
    },
  );
});

describe('addresses and methods', () => {
  test.each([
    ['GET', '/nowhere'],
    ['POST', '/message:shout'],
    ['GET', '/tasks/x/y'],
    ['POST', '/tasks/x:explode'],
    ['GET', '/v1/tasks/x'],
  ])('%s %s is an unknown address and gets 404', async (method, path) => {
    const answer = await request(server, { method, path });
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
    expect(answer.text).toContain('UNKNOWN_ADDRESS');
  });

  test.each([
    ['DELETE', '/', 'GET, HEAD, POST'],
    ['GET', '/message:send', 'POST'],
    ['DELETE', '/tasks', 'GET, HEAD'],
    ['POST', '/tasks/x', 'GET, HEAD'],
    ['GET', '/tasks/x:cancel', 'POST'],
    ['PUT', '/tasks/x:subscribe', 'GET, HEAD, POST'],
    ['PUT', '/tasks/x/pushNotificationConfigs', 'GET, HEAD, POST'],
    ['POST', CARD, 'GET, HEAD'],
    ['POST', '/health', 'GET, HEAD'],
    ['GET', '/api/tools/abort/x', 'POST'],
  ])('%s %s uses a wrong method and gets 405: %s is allowed', async (method, path, allow) => {
    const answer = await request(server, { method, path });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe(allow);
  });

  test.each([
    ['POST', '/v1/message:send'],
    ['GET', '/v1/tasks/x'],
  ])('%s %s exists only for A2A 0.3', (method, path) => {
    expect(allowedMethods(path, '0.3')).toContain(method);
    expect(allowedMethods(path, '1.0')).toEqual([]);
  });
});

describe('errors', () => {
  test.each<[ErrorReason, number, string, string]>([
    ['UNKNOWN_TASK', 404, 'NOT_FOUND', 'TASK_NOT_FOUND'],
    ['UNKNOWN_SESSION', 404, 'NOT_FOUND', 'UNKNOWN_SESSION'],
    ['MESSAGE_CONFLICT', 409, 'ALREADY_EXISTS', 'MESSAGE_CONFLICT'],
    ['SESSION_BUSY', 409, 'ABORTED', 'SESSION_BUSY'],
    ['TASK_ENDED', 400, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
    ['STORAGE', 503, 'UNAVAILABLE', 'STORAGE'],
  ])('%s over HTTP+JSON is %p %s with the reason %s', async (reason, code, status, shown) => {
    server.tasks.onSend = () => Promise.reject(new ProductError(reason, 'No.'));
    for (const path of ['/message:send', '/message:stream']) {
      const answer = await request(server, { path, body: JSON.stringify(userMessage('hi')) });
      expect(answer.status).toBe(code);
      expect(answer.headers.get('retry-after')).toBe(code === 503 ? '2' : null);
      expect(answer.body).toMatchObject({ error: { code, status, details: [{ reason: shown }] } });
      expect(answer.body).toMatchObject({ error: { details: [ERROR_INFO] } });
    }
  });

  test('401, 403 and 413 contain their own reason over both bindings', async () => {
    const small = await startServer({ limits: { bytes: 10, depth: 9 } });
    const cases = [
      [server, { headers: { authorization: 'Bearer wrong-token-0123456789' } }, 401, 'UNAUTHENTICATED'],
      [server, { headers: { origin: 'http://evil.example' } }, 403, 'FORBIDDEN'],
      [small, { body: JSON.stringify(userMessage('hi')) }, 413, 'TOO_LARGE'],
    ] as const;
    for (const [at, sent, status, reason] of cases)
      for (const path of ['/', '/message:send']) {
        const answer = await request(at, { path, ...sent });
        expect(answer.status).toBe(status);
        expect(answer.text).toContain(`"reason":"${reason}","domain"`);
      }
  });
});

/** Sends a JSON-RPC request without an id. */
function notify(method: string, params: unknown) {
  return request(server, { body: JSON.stringify({ jsonrpc: '2.0', method, params }) });
}

describe('JSON-RPC notifications', () => {
  test('JSON-RPC notifications get no response body, after success and after failure', async () => {
    const configuration = { returnImmediately: true };
    const answers = [
      await notify('SendMessage', { ...userMessage('hi'), configuration }),
      await notify('SendStreamingMessage', userMessage('hi')),
      await notify('GetTask', {}),
      await notify('NoSuchMethod', {}),
    ];
    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [204, '']));
    expect(server.tasks.received).toHaveLength(2);
    expect(server.tasks.following).toBe(0);
  });

  test('an id of null makes a message a request, not a notification', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: null, method: 'GetTask', params: { id: start() } });
    expect((await request(server, { body })).body).toMatchObject({ id: null, result: {} });
  });
});

describe('the media type', () => {
  test.each([
    [undefined, 'application/a2a+json'],
    ['*/*', 'application/a2a+json'],
    ['application/json', 'application/json'],
    ['application/json;q=0.5, application/a2a+json', 'application/a2a+json'],
  ])('a client that accepts %p gets the media type %s', async (accept, expected) => {
    for (const path of [`/tasks/${start()}`, '/tasks', '/tasks/unknown', '/extendedAgentCard']) {
      const answer = await request(server, { method: 'GET', path, headers: { accept } });
      expect(answer.headers.get('content-type')).toBe(`${expected}; charset=utf-8`);
    }
  });
});

describe('the agent card', () => {
  test.each(['1.0', '0.3'])(
    'the agent card of %s has a modification date, and the server does not send an unchanged card again',
    async (version) => {
      const card = (sent: Record<string, string> = {}) =>
        request(server, { method: 'GET', path: CARD, headers: { 'a2a-version': version, ...sent } });
      const { headers } = await card();
      expect(headers.get('cache-control')).toMatch(/max-age=\d+/);
      const tag = headers.get('etag') ?? '';
      expect((await card({ 'if-none-match': tag, 'cache-control': 'max-age=0' })).status).toBe(304);
      const modified = headers.get('last-modified') ?? '';
      expect(Number.isNaN(Date.parse(modified))).toBe(false);
      expect((await card({ 'if-modified-since': modified, 'cache-control': 'max-age=0' })).status).toBe(304);
      expect((await card({ authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    },
  );
});

test('a response over JSON-RPC has the media type application/json', async () => {
  const answer = await rpc(server, 'GetTask', { id: start() }, { accept: 'application/json' });
  expect(answer.headers.get('content-type')).toContain('application/json');
});

/** Sends a request of A2A 0.3 over both bindings. */
async function refused(method: string, path: string): Promise<[unknown, unknown]> {
  const overRpc = await rpc(server, method, { id: start() }, OLD);
  return [overRpc.body, (await request(server, { method: 'GET', path, headers: OLD })).body];
}

describe('A2A 0.3', () => {
  test('a response of A2A 0.3 has the media type application/json, with the error’s HTTP status over HTTP+JSON', async () => {
    const overRpc = await rpc(server, 'tasks/get', { id: start() }, OLD);
    const found = await request(server, { method: 'GET', path: `/v1/tasks/${start()}`, headers: OLD });
    const missing = await request(server, { method: 'GET', path: '/v1/tasks/none', headers: OLD });
    for (const { headers } of [overRpc, found, missing])
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect([found.status, missing.status]).toEqual([200, 404]);
    expect(missing.body).toMatchObject({ code: -32001 });
  });

  test('A2A 0.3 over HTTP+JSON refuses a history length that is not a whole number', async () => {
    const path = `/v1/tasks/${start()}`;
    for (const query of ['historyLength=5abc', 'history_length=1.5', 'historyLength=-1', 'historyLength='])
      expect(await request(server, { method: 'GET', path: `${path}?${query}`, headers: OLD })).toMatchObject({
        status: 400,
        body: { code: -32602 },
      });
    const found = await request(server, { method: 'GET', path: `${path}?historyLength=5`, headers: OLD });
    expect(found.status).toBe(200);
  });

  test('A2A 0.3 offers no task list and no extended card', async () => {
    expect(await refused('tasks/list', '/v1/tasks')).toMatchObject([
      { error: { code: -32601 } },
      { data: [{ reason: 'UNKNOWN_ADDRESS' }] },
    ]);
    expect(await refused('agent/getAuthenticatedExtendedCard', '/v1/card')).toMatchObject([
      { error: { code: -32004 } },
      { code: -32004 },
    ]);
  });

  test('the server refuses a file part of A2A 0.3 with a `uri`', async () => {
    const file = { kind: 'file', file: { uri: 'https://example.com/a.png', mimeType: 'image/png' } };
    const message = { kind: 'message', messageId: 'm', role: 'user', parts: [file] };
    const answer = await rpc(server, 'message/send', { message }, OLD);
    expect(answer.body).toMatchObject({ error: { code: -32005 } });
    expect(server.tasks.received).toEqual([]);
  });
});

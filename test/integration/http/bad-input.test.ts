import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/tool-approval.ts';
import { request, rpc, startServer, TOKEN, userMessage } from './test-server.ts';
import type { RpcAnswer, TestServer } from './test-server.ts';

let server: TestServer;
beforeAll(async () => (server = await startServer()));

/** After each invalid request, the server must still serve, and no task may have changed. */
afterEach(async () => {
  expect(server.tasks.received).toEqual([]);
  expect(await request(server, { method: 'GET', path: '/health' })).toMatchObject({ status: 200 });
});

function reason(answer: RpcAnswer): string | undefined {
  return /"metadata":\{[^}]*"reason":"([A-Z_]+)"/.exec(answer.text)?.[1];
}

const call = (params: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'SendMessage', params });

const VALID = { callId: 'c', shown: '3f9ac2d1', decision: 'approve' };
const decisions = (...list: unknown[]) => ({ extension: TOOL_APPROVAL_EXTENSION, decisions: list });

describe('invalid request bodies', () => {
  test('X3 a text of 10 MB gets the error "too large", over both bindings', async () => {
    const big = userMessage('x'.repeat(10 * 1024 * 1024));
    const overRpc = await request(server, { body: call(big) });
    expect(overRpc.status).toBe(413);
    expect(reason(overRpc)).toBe('TOO_LARGE');
    const overRest = await request(server, { path: '/message:send', body: JSON.stringify(big) });
    expect(overRest.status).toBe(413);
    expect(reason(overRest)).toBe('TOO_LARGE');
  });

  test.each(['[', '{"a":'])(
    'X3 a body nested 10,000 levels deep with %p is refused, at any field',
    async (open) => {
      const close = open === '[' ? ']' : '}';
      const nested = `${open.repeat(10_000)}1${close.repeat(10_000)}`;
      const bodies = [
        call({ message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: 'HERE' }] } }),
        call({
          message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: decisions({ input: 'HERE' }) }] },
        }),
        JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'HERE', params: {} }),
        '"HERE"',
      ];
      for (const body of bodies) {
        const answer = await request(server, { body: body.replace('"HERE"', nested) });
        expect(reason(answer)).toBe('MALFORMED');
        expect(answer.text).toContain('more than 64 levels deep');
      }
    },
  );

  test('X3 brackets inside strings do not count as nesting', async () => {
    const text = `${'['.repeat(1000)}\\"${'{'.repeat(1000)}`;
    const answer = await rpc(server, 'GetTask', { id: text });
    expect(answer.body).toMatchObject({ error: { code: -32001 } });
  });

  test('X3 a body with invalid UTF-8 gets a parse error', async () => {
    const body = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":7,"method":"'),
      Buffer.from([0xff, 0xfe]),
    ]);
    const answer = await request(server, { body });
    expect(answer.body).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } });
    expect(answer.text).toContain('UTF-8');
  });

  test.each(['{', 'hello', '{"jsonrpc":"2.0",}', '\u0000'])(
    'X3 a body of %p is refused as invalid JSON',
    async (body) => {
      const answer = await request(server, { body });
      expect(answer.body).toMatchObject({ error: { code: -32700 } });
      const rest = await request(server, { path: '/message:send', body });
      expect(rest.status).toBe(400);
      expect(reason(rest)).toBe('MALFORMED');
    },
  );

  test.each([
    ['', -32600],
    ['[]', -32600],
    ['5', -32600],
    ['null', -32600],
    ['{"id":1,"method":"GetTask","params":{}}', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"GetTask","params":{}}', -32600],
    ['{"jsonrpc":"2.0","id":1,"params":{}}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"NoSuchMethod","params":{}}', -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}', -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"toString","params":{}}', -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"__proto__","params":{}}', -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"GetTask"}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}', -32602],
  ])('X3 the request %p gets the error %p', async (body, code) => {
    const answer = await request(server, { body });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ jsonrpc: '2.0', error: { code } });
  });

  test('the error for a method of the other A2A version names that version', async () => {
    const modern = await rpc(server, 'message/send', {});
    expect(modern.text).toContain('method of A2A 0.3');
    const old = await rpc(server, 'SendMessage', {}, { 'a2a-version': undefined });
    expect(old.text).toContain('A2A-Version: 1.0');
    for (const { body } of [modern, old])
      expect(body).toMatchObject({ error: { data: [{ metadata: { reason: 'MALFORMED' } }] } });
  });

  test('the error for an unsupported version names the version, over both bindings', async () => {
    const overRpc = await rpc(server, 'GetTask', { id: 'x' }, { 'a2a-version': '7.1' });
    expect(overRpc.body).toMatchObject({ id: 7, error: { code: -32009 } });
    for (const path of ['/tasks/x', '/tasks/x:subscribe']) {
      const overRest = await request(server, { method: 'GET', path, headers: { 'a2a-version': '7.1' } });
      expect(overRest.status).toBe(400);
      expect(overRest.text).toContain('VERSION_NOT_SUPPORTED');
    }
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'X3 a request with the content type %p is refused',
    async (contentType) => {
      for (const path of ['/', '/message:send']) {
        const answer = await request(server, { path, body: '{}', headers: { 'content-type': contentType } });
        expect(reason(answer)).toBe('UNSUPPORTED_CONTENT');
      }
    },
  );

  test('X3 a compressed body is refused, because its unpacked size is unknown', async () => {
    const answer = await request(server, { body: 'xx', headers: { 'content-encoding': 'gzip' } });
    expect(reason(answer)).toBe('UNSUPPORTED_CONTENT');
  });

  test.each([
    ['/nowhere', 'GET', 404, 'UNKNOWN_ADDRESS'],
    ['/tenant/tasks/x', 'GET', 404, 'UNKNOWN_ADDRESS'],
    ['/%E0%A4%A', 'GET', 404, 'UNKNOWN_ADDRESS'],
    ['/tasks/%ff', 'GET', 400, 'MALFORMED'],
    ['/', 'DELETE', 405, 'METHOD_NOT_ALLOWED'],
  ])('X3 the path %p with the method %p gets %p, with a reason', async (path, method, status, expected) => {
    const answer = await request(server, { path, method });
    expect(answer.status).toBe(status);
    expect(reason(answer)).toBe(expected);
  });

  test('X3 bytes that are not HTTP close only their own connection', async () => {
    const socket = connect(server.port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.on('error', () => undefined);
    socket.end(Buffer.from([0x16, 0x03, 0x01, 0, 0, 0, 0xff]));
    socket.resume();
    await closed;
  });

  test('X3 a header of 100 kB is refused', async () => {
    const headers = { 'x-large': 'x'.repeat(100_000) };
    expect((await request(server, { method: 'GET', path: '/health', headers })).status).toBe(431);
  });

  test('X3 a body that ends too early changes nothing', async () => {
    const socket = connect(server.port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.write(
      `POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"jsonrpc":`,
      () => socket.resetAndDestroy(),
    );
    await closed;
  });
});

describe('invalid A2A messages', () => {
  test.each<[string, object, string]>([
    ['no parts', { parts: [] }, 'MALFORMED'],
    ['parts that are no list', { parts: 'hello' }, 'MALFORMED'],
    ['a part that is null', { parts: [null] }, 'MALFORMED'],
    ['a part without content', { parts: [{}] }, 'MALFORMED'],
    ['a text that is no string', { parts: [{ text: ['approve'] }] }, 'MALFORMED'],
    ['no message id', { messageId: '' }, 'MALFORMED'],
    ['a message id too long', { messageId: 'x'.repeat(201) }, 'MALFORMED'],
    ['the role of the agent', { role: 'ROLE_AGENT' }, 'MALFORMED'],
    ['a file by URL', { parts: [{ url: 'https://example.com/a.png' }] }, 'UNSUPPORTED_CONTENT'],
    ['a file of a type that no model reads', { parts: [{ raw: 'AAAA' }] }, 'UNSUPPORTED_CONTENT'],
    ['a file that is no base64', { parts: [{ raw: 'A*A=' }] }, 'MALFORMED'],
    ['settings nobody knows', { metadata: { [TOOL_APPROVAL_EXTENSION]: { yolo: true } } }, 'MALFORMED'],
    [
      'settings of the wrong type',
      { metadata: { [TOOL_APPROVAL_EXTENSION]: { autoExecute: 'yes' } } },
      'MALFORMED',
    ],
  ])('X3 a message with %s is refused', async (_what, more, expected) => {
    const { message } = userMessage('hello');
    const params = { message: { ...message, ...more } };
    expect(reason(await rpc(server, 'SendMessage', params))).toBe(expected);
    expect(reason(await rpc(server, 'SendStreamingMessage', params))).toBe(expected);
    const rest = await request(server, { path: '/message:stream', body: JSON.stringify(params) });
    expect(rest.status).toBe(400);
    expect(reason(rest)).toBe(expected);
  });

  test.each<[string, unknown]>([
    ['reject', decisions({ ...VALID, decision: 'reject' })],
    ['yes', decisions({ ...VALID, decision: 'yes' })],
    ['APPROVE with a blank', decisions({ ...VALID, decision: 'APPROVE ' })],
    ['a number', decisions({ ...VALID, decision: 1 })],
    ['no call id', decisions({ ...VALID, callId: undefined })],
    ['no shown code', decisions({ ...VALID, shown: undefined })],
    ['an empty shown code', decisions({ ...VALID, shown: '' })],
    ['an empty list', decisions()],
    ['a field nobody knows', decisions({ ...VALID, force: true })],
    ['an edit without input', decisions({ ...VALID, decision: 'edit' })],
    ['no extension', { decisions: [VALID] }],
    ['a decision that is no list', { extension: TOOL_APPROVAL_EXTENSION, decisions: VALID }],
    ['a bare decision', VALID],
    ['another dialect', { callId: 'c', outcome: 'proceed_once' }],
    ['a list of decisions', [VALID]],
  ])(
    'R06 D1 an invalid decision with %s is refused, and is not treated as an ordinary message',
    async (_what, data) => {
      const params = userMessage([{ data }], { taskId: 'task-1' });
      const answer = await rpc(server, 'SendMessage', params);
      expect(answer.body).toMatchObject({ error: { code: -32602 } });
      expect(reason(answer)).toBe('INVALID_DECISION');
    },
  );

  test.each([-1, 1.5, 'many'])('a history length of %p is refused', async (historyLength) => {
    expect(reason(await rpc(server, 'GetTask', { id: 'x', historyLength }))).toBe('MALFORMED');
  });

  test.each([
    { pageSize: 0 },
    { pageSize: 101 },
    { status: 'TASK_STATE_NAPPING' },
    { statusTimestampAfter: 'yesterday' },
    { pageToken: 'x'.repeat(2001) },
  ])('a task list request with %p is refused', async (params) => {
    expect(reason(await rpc(server, 'ListTasks', params))).toBe('MALFORMED');
  });

  test('query parameters that appear twice are refused', async () => {
    const answer = await request(server, { method: 'GET', path: '/tasks?contextId=a&contextId=b' });
    expect(reason(answer)).toBe('MALFORMED');
  });
});

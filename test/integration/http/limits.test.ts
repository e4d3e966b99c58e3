/** Tests the limits on open requests and event streams, over every binding. */
import { request as httpRequest, type ClientRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { OpenRequestLimiter } from '../../../a2a-server/limits/open-request-limiter.ts';
import { openStream } from './event-source.ts';
import {
  ANN_TOKEN,
  BOB_TOKEN,
  OTHER_TOKEN,
  request,
  rpc,
  startServer,
  TOKEN,
  userMessage,
} from './test-server.ts';
import type { RpcAnswer, TestServer } from './test-server.ts';

let refusals: string[] = [];
let server: TestServer;
let openRequests: OpenRequestLimiter;
let uploads: ClientRequest[] = [];

beforeEach(async () => {
  const limits = { requests: { principal: 2, tenant: 1, server: 3 }, streams: { principal: 1, server: 4 } };
  refusals = [];
  uploads = [];
  openRequests = new OpenRequestLimiter(
    () => limits,
    (limit, scope) => refusals.push(`${limit} ${scope}`),
  );
  server = await startServer({ openRequests });
});
afterEach(async () => {
  for (const sent of uploads) sent.destroy();
  await server.close();
});

/** The memory for the incomplete bodies of one principal. */
const ALL_BODIES = 64 * 1024 * 1024;

/** Returns the bytes of a request, to send several on one connection. */
const getRequest = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\nA2A-Version: 1.0\r\n\r\n`;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const newTask = (): string => server.tasks.begin([{ type: 'task.working' }]).taskId;

/** Opens a request whose body never ends. Resolves when the server has admitted it. */
function upload(token: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${server.url}/message:send`, {
      method: 'POST',
      headers: { ...bearer(token), 'content-type': 'application/json', expect: '100-continue' },
    });
    uploads.push(sent);
    sent.on('error', reject);
    sent.on('continue', resolve);
    sent.flushHeaders();
  });
}

const metadata = {
  reason: 'LIMIT_REACHED',
  retryable: 'true',
  limit: 'streams',
  scope: 'principal',
  most: '1',
};
const ending = ({ status, headers }: RpcAnswer): unknown[] => [status, headers.get('retry-after')];

describe('limits of a server', () => {
  test('one stream too many gets 429 and a time over each binding, and its message is not accepted', async () => {
    const taskId = newTask();
    const reader = await openStream(server, { path: `/tasks/${taskId}:subscribe` });
    const before = server.tasks.received.length;
    for (const method of ['SendStreamingMessage', 'SendMessage']) {
      const refused = await rpc(server, method, userMessage('hello'));
      expect(ending(refused)).toEqual([429, '5']);
      expect(refused.body).toMatchObject({ id: 7, error: { code: -32603, data: [{ metadata }] } });
    }
    for (const path of ['/message:stream', '/message:send']) {
      const refused = await request(server, { path, body: JSON.stringify(userMessage('hello')) });
      expect(ending(refused)).toEqual([429, '5']);
      expect(refused.body).toMatchObject({
        error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ metadata }] },
      });
    }
    const cancelled = await rpc(server, 'CancelTask', { id: taskId });
    expect(cancelled.status).toBe(200);
    expect(server.tasks.received).toHaveLength(before);
    expect(new Set(refusals)).toEqual(new Set(['streams principal']));
    await reader.body?.cancel();
  });

  test('one request too many gets 429 for its principal, and 503 when the server is full', async () => {
    await upload(TOKEN);
    await upload(TOKEN);
    const own = await request(server, { method: 'GET', path: '/tasks' });
    expect([...ending(own), refusals]).toEqual([429, '1', ['requests principal']]);
    expect(
      (await request(server, { method: 'GET', path: '/tasks', headers: bearer(OTHER_TOKEN) })).status,
    ).toBe(200);
    await upload(OTHER_TOKEN);
    const full = await request(server, { method: 'GET', path: '/tasks', headers: bearer(OTHER_TOKEN) });
    expect(ending(full)).toEqual([503, '1']);
    expect(full.text).toContain('OVERLOADED');
    const overRpc = await rpc(server, 'ListTasks', {}, bearer(OTHER_TOKEN));
    expect(ending(overRpc)).toEqual([503, '1']);
  });

  test('one request too many of a tenant gets 429 for each of its principals, and for nobody else', async () => {
    await upload(ANN_TOKEN);
    const refused = await request(server, { method: 'GET', path: '/tasks', headers: bearer(BOB_TOKEN) });
    expect([...ending(refused), refusals]).toEqual([429, '1', ['requests tenant']]);
    expect(refused.text).toContain('Your tenant has 1 open request,');
    expect((await request(server, { method: 'GET', path: '/tasks' })).status).toBe(200);
  });

  test('a large body gets 429 above the memory for the bodies of one principal, a small one does not', async () => {
    const { bodyMemory, end } = openRequests.open('local');
    bodyMemory.hold(ALL_BODIES - 100_000);
    const send = (size: number, token = TOKEN): Promise<RpcAnswer> =>
      request(server, {
        path: '/message:send',
        body: JSON.stringify({
          ...userMessage('x'.repeat(size)),
          configuration: { returnImmediately: true },
        }),
        headers: bearer(token),
      });
    const refused = await send(1_000_000);
    expect([...ending(refused), server.tasks.received.length]).toEqual([429, '1', 0]);
    expect(refused.text).toContain('bodyMegabytes');
    expect(refusals).toEqual(['bodyMegabytes principal']);
    const accepted = [await send(50_000), await send(1_000_000, OTHER_TOKEN)];
    end();
    accepted.push(await send(1_000_000));
    expect(accepted.map(({ status }) => status)).toEqual([200, 200, 200]);
    // Each complete body has given its bytes back.
    openRequests.open('local').bodyMemory.hold(ALL_BODIES);
  });

  test('a request that is cut gives its place back', async () => {
    await upload(TOKEN);
    await upload(TOKEN);
    // Node 20 still answers the cut request, and Node 26 does not.
    const closed = Promise.race([server.closedFor('answered'), server.closedFor('client-gone')]);
    uploads[0]?.destroy();
    await closed;
    expect((await request(server, { method: 'GET', path: '/tasks' })).status).toBe(200);
  });

  test('S3 pipelined requests are answered one at a time, and a connection with too many of them is closed', async () => {
    const [first, second] = [newTask(), newTask()];
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    // The principal may have only one stream at a time.
    socket.write([first, second].map((taskId) => getRequest(`/tasks/${taskId}:subscribe`)).join(''));
    await server.tasks.untilFollowed(first);
    server.tasks.append(first, [{ type: 'task.completed' }]);
    await server.tasks.untilFollowed(second);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(getRequest('/tasks').repeat(101));
    await closed;
    await server.tasks.untilLeft(second);
    expect((await request(server, { method: 'GET', path: '/tasks' })).status).toBe(200);
  });
});

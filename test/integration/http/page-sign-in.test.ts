/** Tests the sign-in to the approval page, request by request. */
import { beforeEach, expect, test } from '@jest/globals';
import { request as httpRequest } from 'node:http';
import { z } from 'zod';
import { PAGE_LINK_MS, PAGE_SESSION_MS } from '../../../a2a-server/page/page-sessions.ts';
import { openPasskeys } from '../../../a2a-server/startup/open-passkeys.ts';
import { createLogger } from '../../../shared/runtime/logging.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryRecords } from '../../support/memory-records.ts';
import { RawConnection } from '../../support/raw-connection.ts';
import { OTHER_TOKEN, request, startServer } from './test-server.ts';
import type { RpcAnswer, TestServer } from './test-server.ts';

const LISTED = 'https://console.example';

let server: TestServer;
beforeEach(
  async () => (server = await startServer({ allowedHosts: { publicHosts: [], origins: [LISTED] } })),
);

const expiry = z.object({ expiresAt: z.string() });

type Headers = Record<string, string | undefined>;
const post = (path: string, body: unknown, headers: Headers = {}): Promise<RpcAnswer> =>
  request(server, { path, body: JSON.stringify(body), headers });

async function makeLink(body: object = {}, headers: Headers = {}): Promise<URL> {
  const { body: link } = await post('/page/links', body, headers);
  return new URL(z.object({ url: z.string() }).parse(link).url);
}

const codeOf = (link: URL): string => new URLSearchParams(link.hash.slice(1)).get('code') ?? '';

const exchange = (code: string, origin: string | undefined = server.url): Promise<RpcAnswer> =>
  post('/page/session', { code }, { authorization: undefined, origin });

/** Signs in, and returns the headers of the browser. */
async function signIn(link?: URL): Promise<Headers> {
  const answer = await exchange(codeOf(link ?? (await makeLink())));
  const { pageKey } = z.object({ pageKey: z.string() }).parse(answer.body);
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  return { authorization: undefined, cookie, 'x-page-key': pageKey };
}

const tasks = (headers: Headers, path = '/page/api/tasks'): Promise<RpcAnswer> =>
  request(server, { method: 'GET', path, headers });

test('a sign-in link works once: the cookie is HttpOnly, SameSite=Strict and limited to the page', async () => {
  const link = await makeLink();
  expect(Buffer.from(codeOf(link), 'base64url')).toHaveLength(32);
  const answer = await exchange(codeOf(link));
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('set-cookie')).toMatch(
    /^approvals-[0-9a-f]{8}=[\w-]{43}; Path=\/page; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
  );
  expect((await exchange(codeOf(link))).status).toBe(401);
  expect((await exchange('x'.repeat(43))).status).toBe(401);
});

test('a sign-in link is valid for ten minutes, and a browser session for a day', async () => {
  const [early, late] = [await makeLink(), await makeLink()];
  server.clock.advance(PAGE_LINK_MS - 1);
  const headers = await signIn(early);
  server.clock.advance(1);
  expect((await exchange(codeOf(late))).status).toBe(401);
  server.clock.advance(PAGE_SESSION_MS - 2);
  expect((await tasks(headers)).status).toBe(200);
  server.clock.advance(1);
  expect((await tasks(headers)).status).toBe(401);
});

test('X1 a session that a session’s link makes does not last longer', async () => {
  const clock = new FakeClock();
  const [log, base] = [createLogger({ name: 'test', level: 'silent' }), 'http://127.0.0.1:1'];
  const passkeys = openPasskeys(memoryRecords(), base, { clock, log, audited: () => Promise.resolve() });
  await server.close();
  server = await startServer({ clock, passkeys });
  const { expiresAt } = expiry.parse((await exchange(codeOf(await makeLink()))).body);
  const headers = { ...(await signIn()), origin: server.url };
  clock.advance(PAGE_SESSION_MS - 1_000);
  const { body } = await post('/page/api/passkeys/page-link', {}, headers);
  const link = new URL(z.object({ url: z.string() }).parse(body).url);
  expect(expiry.parse((await exchange(codeOf(link))).body)).toEqual({ expiresAt });
});

test('a sign-in link opens one action of a task of its principal, and no other task', async () => {
  const { taskId } = server.tasks.begin();
  const link = await makeLink({ taskId, callId: 'call-1', shown: '3f9ac2d1' });
  expect(link.pathname).toBe('/page');
  expect(link.hash).toBe(`#code=${codeOf(link)}&task=${taskId}&call=call-1&shown=3f9ac2d1`);
  expect(link.search).toBe('');
  const asOther = await post('/page/links', { taskId }, { authorization: `Bearer ${OTHER_TOKEN}` });
  expect(asOther.status).toBe(404);
  expect((await post('/page/links', { callId: 'call-1' })).status).toBe(400);
  expect((await post('/page/links', { task: taskId })).status).toBe(400);
  expect((await post('/page/links', {}, { authorization: undefined })).status).toBe(401);
});

test('a browser session acts for its principal, and can call only the routes that the page needs', async () => {
  const link = await makeLink({}, { authorization: `Bearer ${OTHER_TOKEN}` });
  server.tasks.begin();
  const mine = z.object({ tasks: z.array(z.unknown()) });
  expect(mine.parse((await tasks(await signIn())).body).tasks).toHaveLength(1);
  const headers = await signIn(link);
  expect(mine.parse((await tasks(headers)).body).tasks).toHaveLength(0);
  for (const path of ['/tasks', '/api/tools', '/health'])
    expect((await tasks(headers, path)).status).toBe(401);
  expect((await tasks(headers, '/page/api/health')).status).toBe(404);
  expect((await post('/page/links', {}, { ...headers, origin: server.url })).status).toBe(401);
});

test('X1 no cache may store an answer to the page', async () => {
  const headers = await signIn();
  const { taskId } = server.tasks.begin();
  for (const path of [
    '/tasks',
    `/tasks/${taskId}`,
    `/api/tasks/${taskId}/costs`,
    '/agent',
    '/workspaces',
    '/x',
  ])
    expect((await tasks(headers, `/page/api${path}`)).headers.get('cache-control')).toBe('no-store');
});

test('X1 a browser session needs both the cookie and the page key', async () => {
  const headers = await signIn();
  expect((await tasks({ ...headers, 'x-page-key': undefined })).status).toBe(401);
  expect((await tasks({ ...headers, cookie: undefined })).status).toBe(401);
  const other = await signIn();
  expect((await tasks({ ...headers, cookie: other['cookie'] })).status).toBe(401);
  expect((await tasks({ ...headers, cookie: `theme=dark; ${headers['cookie']}; a=b` })).status).toBe(200);
});

test('X1 a page of another origin cannot use a sign-in, even if the operator lists it', async () => {
  const headers = await signIn();
  const send = { id: 't' };
  const cancel = (more: Headers): Promise<RpcAnswer> =>
    post('/page/api/tasks/t:cancel', send, { ...headers, ...more });
  expect((await cancel({ origin: LISTED })).status).toBe(403);
  expect((await cancel({ origin: 'http://127.0.0.1:1' })).status).toBe(403);
  // A browser sends its origin with every POST. So the server refuses a POST without one.
  expect((await cancel({})).status).toBe(403);
  expect((await cancel({ origin: server.url })).status).toBe(404);
  expect(await rawStatus({ ...headers, 'Sec-Fetch-Site': 'same-site' })).toBe(403);
  expect(await rawStatus({ ...headers, 'Sec-Fetch-Site': 'same-origin' })).toBe(200);
  expect((await exchange(codeOf(await makeLink()), LISTED)).status).toBe(403);
  const preflight = await request(server, {
    method: 'OPTIONS',
    path: '/page/api/tasks',
    headers: { origin: LISTED, 'access-control-request-method': 'POST' },
  });
  expect(preflight.headers.get('access-control-allow-headers')).not.toMatch(/page-key/i);
  expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
});

/** `fetch` does not allow this header. */
function rawStatus(headers: Headers): Promise<number | undefined> {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const { port } = server;
  return new Promise((resolve, reject) => {
    const options = {
      port,
      path: '/page/api/tasks',
      headers: { 'a2a-version': '1.0', ...Object.fromEntries(given) },
    };
    const sent = httpRequest(options, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('signing out ends this browser session; signing out everywhere ends all sessions and links of the principal', async () => {
  const [one, two, three] = [await signIn(), await signIn(), await signIn()];
  const link = await makeLink();
  const others = await signIn(await makeLink({}, { authorization: `Bearer ${OTHER_TOKEN}` }));
  const origin = { origin: server.url };
  const out = await post('/page/sign-out', {}, { ...one, ...origin });
  expect(out.status).toBe(200);
  expect(out.headers.get('set-cookie')).toMatch(
    /^approvals-[0-9a-f]{8}=; Path=\/page; Expires=Thu, 01 Jan 1970/,
  );
  expect((await tasks(one)).status).toBe(401);
  expect((await tasks(two)).status).toBe(200);
  await post('/page/sign-out', { everywhere: true }, { ...two, ...origin });
  expect((await tasks(two)).status).toBe(401);
  expect((await tasks(three)).status).toBe(401);
  expect((await exchange(codeOf(link))).status).toBe(401);
  expect((await tasks(others)).status).toBe(200);
  expect((await post('/page/sign-out', { everywhere: true }, { ...two, ...origin })).status).toBe(401);
});

test('a stream ends when its browser session ends', async () => {
  const { taskId } = server.tasks.begin();
  const headers = await signIn();
  const streaming = request(server, { method: 'GET', path: `/page/api/tasks/${taskId}:subscribe`, headers });
  await server.tasks.untilFollowed(taskId);
  await post('/page/sign-out', {}, { ...headers, origin: server.url });
  expect((await streaming).status).toBe(200);
  await server.closedFor('signed-out');
});

test('HEAD of the stream of changes ends at once, with the headers of the stream', async () => {
  const { cookie, 'x-page-key': pageKey } = await signIn();
  const connection = await RawConnection.open(server.url);
  connection.write({
    method: 'HEAD',
    path: '/page/api/task-changes',
    headers: { Origin: server.url, Cookie: cookie ?? '', 'X-Page-Key': pageKey ?? '', Connection: 'close' },
  });
  const { status, headers } = await connection.response();
  expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/^text\/event-stream/)]);
  await connection.ended();
});

test('HEAD of an address of the page’s API answers like GET, without the content', async () => {
  const headers = await signIn();
  for (const path of ['/page/api/tasks', '/page/api/task-groups', '/page/api/nowhere']) {
    const got = await request(server, { method: 'GET', path, headers });
    const head = await request(server, { method: 'HEAD', path, headers });
    expect([path, head.status, head.text]).toEqual([path, got.status, '']);
  }
  const foreign = { ...headers, 'sec-fetch-site': 'cross-site' };
  expect((await request(server, { method: 'HEAD', path: '/page/api/tasks', headers: foreign })).status).toBe(
    403,
  );
});

test('X1 the log contains no secret of the sign-in', async () => {
  const link = await makeLink();
  const headers = await signIn(link);
  await exchange(codeOf(link));
  await tasks(headers, '/page/api/nothing');
  for (const secret of [codeOf(link), headers['x-page-key'], headers['cookie']])
    expect(server.logged()).not.toContain(secret);
});

test.each([
  ['DELETE', '/page/api/tasks', 405, 'GET, HEAD'],
  ['GET', '/page/api/message:send', 405, 'POST'],
  ['GET', '/page/api/api/tools/abort/x', 405, 'POST'],
  ['GET', '/page/api/nowhere', 404, null],
  ['GET', '/page/api/health', 404, null],
])('%s %s returns the status %p to a signed-in page', async (method, path, status, allow) => {
  const headers = { ...(await signIn()), origin: server.url };
  const answer = await request(server, { method, path, headers });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('allow')).toBe(allow);
  expect(answer.text).toContain(path);
});

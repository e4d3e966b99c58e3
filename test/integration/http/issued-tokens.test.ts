/** Tests issued tokens over HTTP: requests, streams, tickets and sessions of the page. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { makeToken } from '../../../a2a-server/access/issued-token.ts';
import {
  openIssuedTokenReader,
  type IssuedTokenReader,
} from '../../../a2a-server/access/issued-token-reader.ts';
import { type TokenStore, createTokenStore } from '../../../a2a-server/access/token-store.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryRecords } from '../../support/memory-records.ts';
import { RawConnection } from '../../support/raw-connection.ts';
import { signal } from '../../support/signal.ts';
import { request, signInToPage, startServer } from './test-server.ts';
import type { RpcAnswer, TestServer } from './test-server.ts';

const LIFETIME_MS = 60_000;

const onFailure = (error: unknown): void => {
  throw error;
};

let server: TestServer;
let store: TokenStore;
let issued: IssuedTokenReader;
let token: ReturnType<typeof makeToken>;
let taskId: string;

beforeEach(async () => {
  const records = memoryRecords();
  const clock = new FakeClock();
  store = createTokenStore(records);
  token = makeToken({ principal: 'ann', roles: ['delegate'], lifetimeMs: LIFETIME_MS }, clock.now());
  await store.add(token.token);
  issued = openIssuedTokenReader({ records, clock, onFailure });
  server = await startServer({ issued, clock });
  ({ taskId } = server.tasks.begin([], 'ann'));
});
afterEach(async () => {
  issued.close();
  await server.close();
});

type Headers = Record<string, string | undefined>;
const bearer = (): Headers => ({ authorization: `Bearer ${token.text}` });
const get = (path: string, headers: Headers): Promise<RpcAnswer> =>
  request(server, { method: 'GET', path, headers });
const revoke = (): Promise<unknown> => store.revoke(token.token.id, server.clock.now());

async function ticket(): Promise<string> {
  const answer = await request(server, { path: `/api/tasks/${taskId}/events/ticket`, headers: bearer() });
  return z.object({ ticket: z.string() }).parse(answer.body).ticket;
}

/** Opens the stream of the task. Returns its status and its end. */
async function openStream(
  path: string,
  headers: Headers,
): Promise<{ status: number; ended: Promise<string> }> {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const response = await fetch(`${server.url}${path}`, {
    headers: Object.fromEntries([...given, ['accept', 'text/event-stream']]),
  });
  return { status: response.status, ended: response.text() };
}

const signIn = (): Promise<Headers> => signInToPage(server, bearer());

test('an issued token stands for its principal', async () => {
  expect((await get(`/tasks/${taskId}`, bearer())).status).toBe(200);
  expect((await get(`/tasks/${taskId}`, {})).status).toBe(404);
});

test('X1 a revoked token is refused, and so are its tickets and sessions', async () => {
  const [page, events] = [await signIn(), `/api/tasks/${taskId}/events?ticket=${await ticket()}`];
  const link = await request(server, { path: '/page/links', body: '{}', headers: bearer() });
  expect((await get('/page/api/tasks', page)).status).toBe(200);
  await revoke();
  expect((await get('/tasks', bearer())).status).toBe(401);
  expect((await get('/page/api/tasks', page)).status).toBe(401);
  expect((await get(events, { authorization: undefined })).status).toBe(401);
  const { hash } = new URL(z.object({ url: z.string() }).parse(link.body).url);
  const body = JSON.stringify({ code: new URLSearchParams(hash.slice(1)).get('code') });
  const late = { authorization: undefined, origin: server.url };
  expect((await request(server, { path: '/page/session', body, headers: late })).status).toBe(401);
});

test.each(['token', 'ticket', 'page'] as const)(
  'X1 a revocation ends an open stream of the %s',
  async (kind) => {
    const opened = await {
      token: () => openStream(`/api/tasks/${taskId}/events`, bearer()),
      ticket: async () => openStream(`/api/tasks/${taskId}/events?ticket=${await ticket()}`, {}),
      page: async () => openStream('/page/api/task-changes', await signIn()),
    }[kind]();
    expect(opened.status).toBe(200);
    const closed = server.closedFor('token-revoked');
    await revoke();
    await closed;
    await opened.ended;
  },
);

test('X1 a revocation ends a request whose body is not complete', async () => {
  const admitted = signal();
  const watched: IssuedTokenReader = { ...issued };
  issued.onRevoked = (id, act) => {
    admitted.happen();
    return watched.onRevoked(id, act);
  };
  const connection = await RawConnection.open(server.url);
  const headers = { Authorization: bearer()['authorization'] ?? '', 'Content-Type': 'application/json' };
  const path = '/message:send';
  connection.write({ method: 'POST', path, headers: { ...headers, 'Transfer-Encoding': 'chunked' } });
  await admitted.happened;
  await revoke();
  await connection.closed;
});

test('an open stream ends when its token expires', async () => {
  const { status, ended } = await openStream(`/api/tasks/${taskId}/events`, bearer());
  expect(status).toBe(200);
  const closed = server.closedFor('access-expired');
  server.clock.advance(LIFETIME_MS);
  await closed;
  await ended;
  expect((await get('/tasks', bearer())).status).toBe(401);
});

test('X1 a ticket with the id of another token is refused', async () => {
  const other = makeToken({ principal: 'ben', roles: ['delegate'], lifetimeMs: null }, server.clock.now());
  await store.add(other.token);
  const changed = (await ticket()).replace(token.token.id, other.token.id);
  const path = `/api/tasks/${taskId}/events?ticket=`;
  expect((await get(path + changed, { authorization: undefined })).status).toBe(401);
  expect((await get(path + changed.slice(0, -13), { authorization: undefined })).status).toBe(401);
});

test('X1 the log names the token by its id and contains no secret', async () => {
  await get('/tasks', bearer());
  expect(server.logged()).toContain(token.token.id);
  expect(server.logged()).not.toContain(token.text.slice(-43));
});

/** Tests what a verified token of an OpenID Connect provider may do over HTTP. */
import { beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Role } from '../../../a2a-server/access/role.ts';
import { agentCard } from '../../../a2a-server/http/routes/agent-card.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { request, signInToPage, startServer, userMessage } from './test-server.ts';
import type { SentHeaders, TestServer } from './test-server.ts';

const LIFETIME_MS = 60_000;
const JWT = 'header.claims.signature';

let server: TestServer;
let taskId: string;
let roles: Role[];
let groups: string[];

beforeEach(async () => {
  const clock = new FakeClock();
  roles = ['read'];
  groups = [];
  server = await startServer({
    clock,
    async verifyJwt(token) {
      if (token !== JWT) throw new ProductError('UNAUTHENTICATED', 'not valid here');
      return { principal: 'acme/ann', roles, groups, expiresAt: clock.now() + LIFETIME_MS };
    },
  });
  ({ taskId } = server.tasks.begin([], 'acme/ann'));
});

const headers = { authorization: `Bearer ${JWT}` };
const post = (path: string) => request(server, { path, body: '{}', headers });

test('X1 it has only the roles of its claims', async () => {
  expect((await request(server, { method: 'GET', path: `/tasks/${taskId}`, headers })).status).toBe(200);
  const refused = await post(`/tasks/${taskId}:cancel`);
  expect(refused.status).toBe(403);
  expect(refused.text).toContain('your token has read.');
  roles = [];
  expect((await request(server, { method: 'GET', path: '/tasks', headers })).status).toBe(403);
});

test('R121 its messages carry its groups', async () => {
  roles = ['delegate', 'approve'];
  server.tasks.onSend = () => {
    throw new ProductError('SHUTTING_DOWN', 'the test needs no task');
  };
  const send = () =>
    request(server, { path: '/message:send', body: JSON.stringify(userMessage('go')), headers });
  await send();
  groups = ['release'];
  await send();
  const [without, having] = server.tasks.received;
  expect(without).not.toHaveProperty('groups');
  expect(having).toMatchObject({ principal: 'acme/ann', groups: ['release'] });
});

test('X1 it makes no stream ticket, because a ticket has no roles', async () => {
  roles = ['delegate', 'approve', 'operate', 'read'];
  expect((await post(`/api/tasks/${taskId}/events/ticket`)).status).toBe(403);
});

test('X1 a session of the page has the roles of the token that made its link, and ends with it', async () => {
  const call = async (sent: { method: string; path: string; body?: string }, by: SentHeaders) => {
    const { status, text } = await request(server, { ...sent, headers: { ...by, origin: server.url } });
    return status === 403 ? text : status;
  };
  const path = `/page/api/tasks/${taskId}`;
  const read = (by: SentHeaders) => call({ method: 'GET', path }, by);
  const cancel = (by: SentHeaders) => call({ method: 'POST', path: `${path}:cancel`, body: '{}' }, by);
  roles = ['read'];
  const reader = await signInToPage(server, headers);
  expect([await read(reader), await cancel(reader)]).toEqual([200, expect.stringContaining('has read.')]);
  roles = ['delegate', 'approve'];
  const approver = await signInToPage(server, headers);
  expect([await cancel(approver), await cancel(reader)]).toEqual([200, expect.stringContaining('has read.')]);
  server.clock.advance(LIFETIME_MS - 1);
  expect(await read(approver)).toBe(200);
  server.clock.advance(1);
  expect([await read(approver), await read(reader)]).toEqual([401, 401]);
});

test('X1 a link to the page ends with its token', async () => {
  roles = ['delegate', 'approve'];
  const { expiresAt } = z.object({ expiresAt: z.string() }).parse((await post('/page/links')).body);
  expect(Date.parse(expiresAt)).toBe(server.clock.now() + LIFETIME_MS);
});

test('its streams end when it expires', async () => {
  const stream = await fetch(`${server.url}/api/tasks/${taskId}/events`, { headers });
  expect(stream.status).toBe(200);
  const closed = server.closedFor('access-expired');
  server.clock.advance(LIFETIME_MS);
  await closed;
  await stream.text();
});

test('X1 another token in the form of a JWT is refused', async () => {
  const other = { authorization: 'Bearer a.b.c' };
  expect((await request(server, { method: 'GET', path: '/tasks', headers: other })).status).toBe(401);
});

test('the card declares the provider, and a client needs one of the two schemes', () => {
  const card = agentCard('https://a.example.com', '1.0.0', { oidcIssuer: 'https://login.example.com/' });
  expect(card.securitySchemes['openIdConnect']?.scheme).toMatchObject({
    $case: 'openIdConnectSecurityScheme',
    value: { openIdConnectUrl: 'https://login.example.com/.well-known/openid-configuration' },
  });
  expect(card.securityRequirements.map(({ schemes }) => Object.keys(schemes))).toEqual([
    ['bearer'],
    ['openIdConnect'],
  ]);
  expect(agentCard('https://a.example.com', '1.0.0').securitySchemes).not.toHaveProperty('openIdConnect');
});

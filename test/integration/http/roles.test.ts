/** Tests what a token of each role may do. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { makeToken } from '../../../a2a-server/access/issued-token.ts';
import type { IssuedTokenReader } from '../../../a2a-server/access/issued-token-reader.ts';
import { ROLES, type Role } from '../../../a2a-server/access/role.ts';
import {
  accessRequirementOf,
  PAGE_API_PATH,
  rolesForMethod,
} from '../../../a2a-server/http/routes/methods-and-roles.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/extensions.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { NO_ISSUED_TOKENS } from '../../support/no-issued-tokens.ts';
import { request, rpc, startServer, userMessage } from './test-server.ts';
import type { RpcAnswer, TestServer } from './test-server.ts';

let server: TestServer;
const tokens = new Map<string, string>();
const clock = new FakeClock();

beforeAll(async () => {
  const sets: Role[][] = [['delegate'], ['approve'], ['operate'], ['read'], ['delegate', 'approve']];
  const made = sets.map((roles) => makeToken({ principal: 'local', roles, lifetimeMs: null }, clock.now()));
  for (const { text, token } of made) tokens.set(token.roles.join(), text);
  const issued: IssuedTokenReader = {
    ...NO_ISSUED_TOKENS,
    find: async (given) => made.find(({ text }) => text === given)?.token,
    active: async (id) => made.find(({ token }) => token.id === id)?.token,
  };
  server = await startServer({ issued, clock });
});

const idOf = (roles: string) => tokens.get(roles)?.split('_')[1];
const bearer = (roles: string) => ({ authorization: `Bearer ${tokens.get(roles)}` });
const decision = {
  extension: TOOL_APPROVAL_EXTENSION,
  decisions: [{ callId: 'call-1', decision: 'approve', shown: '3f9ac2d1' }],
};
const configuration = { returnImmediately: true };

function send(roles: string, content: string | unknown[], more: object = {}): Promise<RpcAnswer> {
  return rpc(server, 'SendMessage', { ...userMessage(content, more), configuration }, bearer(roles));
}

describe('roles', () => {
  test.each<[string, string, readonly Role[]]>([
    ['GET', '/tasks', ROLES],
    ['GET', '/api/costs', ROLES],
    ['GET', '/health', ROLES],
    ['POST', '/message:send', ['delegate', 'approve']],
    ['POST', '/tasks/task-1:cancel', ['delegate', 'operate']],
    ['POST', '/api/tools/abort/tool-1', ['delegate', 'operate']],
    ['POST', '/tasks/task-1/pushNotificationConfigs', ['delegate']],
    ['GET', '/api/push/failing', ['operate']],
    ['POST', '/api/push/retry/id-1', ['operate']],
  ])('X1 %s %s needs one of the roles %j', async (method, path, allowed) => {
    for (const role of ROLES) {
      const answer = await request(server, { method, path, headers: bearer(role) });
      expect([role, answer.status === 403]).toEqual([role, !allowed.includes(role)]);
      if (answer.status === 403) expect(answer.text).toContain(`your token has ${role}.`);
    }
  });

  test('X1 JSON-RPC methods need the same roles', async () => {
    expect((await rpc(server, 'ListTasks', {}, bearer('read'))).body).toMatchObject({
      result: { tasks: expect.any(Array) },
    });
    for (const method of ['SendMessage', 'SendStreamingMessage', 'CancelTask'])
      expect(
        (await rpc(server, method, { ...userMessage('hi'), id: 'task-1' }, bearer('read'))).text,
      ).toContain('needs the role');
    expect((await rpc(server, 'SendMessage', userMessage('hi'), bearer('read'))).text).toContain(
      'A message to the agent needs the role delegate, and a decision needs the role approve; your token has read.',
    );
    const legacy = { ...bearer('read'), 'a2a-version': undefined };
    expect((await rpc(server, 'tasks/cancel', { id: 'task-1' }, legacy)).text).toContain('needs the role');
    for (const name of ['toString', 'constructor', '']) expect(rolesForMethod(name)).toEqual([]);
  });

  test('X1 the log names the token of each refused request, over each binding', async () => {
    const before = server.logged().length;
    await request(server, { path: '/message:send', headers: bearer('read') });
    await rpc(server, 'SendMessage', userMessage('hi'), bearer('read'));
    await send('delegate', [{ data: decision }], { taskId: 'task-1' });
    const lines = server.logged().slice(before).split('\n');
    const refusals = lines.filter((line) => line.includes('a request was refused'));
    expect(refusals.map((line): unknown => JSON.parse(line))).toMatchObject([
      { status: 403, path: '/message:send', principal: 'local', tokenId: idOf('read') },
      { operation: 'SendMessage', principal: 'local', tokenId: idOf('read') },
      { operation: 'SendMessage', principal: 'local', tokenId: idOf('delegate') },
    ]);
  });

  test('X1 only the role approve decides', async () => {
    const before = server.tasks.received.length;
    expect((await send('delegate', [{ data: decision }], { taskId: 'task-1' })).text).toContain(
      'needs the role approve',
    );
    expect(server.tasks.received).toHaveLength(before);
    await send('approve', [{ data: decision }], { taskId: 'task-1' });
    expect(server.tasks.received.at(-1)).toMatchObject({ decisions: decision });
  });

  test('X1 a message registers an address for push notifications only with the role delegate', async () => {
    const push = { url: 'https://example.com/hook' };
    const { message } = userMessage([{ data: decision }]);
    const old = { ...message, role: 'user', parts: [{ kind: 'data', data: decision }] };
    const answers = (roles: string): Promise<RpcAnswer[]> =>
      Promise.all([
        rpc(
          server,
          'SendMessage',
          { message, configuration: { taskPushNotificationConfig: push } },
          bearer(roles),
        ),
        rpc(
          server,
          'message/send',
          { message: old, configuration: { pushNotificationConfig: push } },
          { ...bearer(roles), 'a2a-version': undefined },
        ),
      ]);
    for (const { text } of await answers('approve')) expect(text).toContain('needs the role delegate');
    // With both roles, the message reaches the scripted tasks, which have no push notifications.
    for (const { body } of await answers('delegate,approve'))
      expect(body).toMatchObject({ error: { code: -32603 } });
  });

  test('X1 without the role approve, the word approve is plain text', async () => {
    await send('delegate', 'approve');
    expect(server.tasks.received.at(-1)).toMatchObject({ wordsDecide: false, mayApprove: false });
    await send('delegate,approve', 'approve');
    expect(server.tasks.received.at(-1)).toMatchObject({ wordsDecide: true });
  });

  test('X1 with the role approve alone, a text can only decide; a client that sends decisions as data sends no text', async () => {
    await send('approve', 'approve', { taskId: 'task-1' });
    expect(server.tasks.received.at(-1)).toMatchObject({ wordsDecide: true, mayDelegate: false });
    const before = server.tasks.received.length;
    const text = userMessage('approve', { taskId: 'task-1' });
    const speaking = { ...bearer('approve'), 'a2a-extensions': TOOL_APPROVAL_EXTENSION };
    expect((await rpc(server, 'SendMessage', text, speaking)).text).toContain('needs the role delegate');
    expect(server.tasks.received).toHaveLength(before);
  });

  test.each([{ autoExecute: true }, { mode: 'auto' }, { mode: 'accept-edits' }])(
    'X1 without the role approve, a task cannot begin with %j',
    async (settings) => {
      const metadata = { [TOOL_APPROVAL_EXTENSION]: settings };
      const before = server.tasks.received.length;
      expect((await send('delegate', 'go', { metadata })).text).toContain('needs the role approve');
      expect(server.tasks.received).toHaveLength(before);
      await send('delegate,approve', 'go', { metadata });
      expect(server.tasks.received.at(-1)).toMatchObject({ settings });
    },
  );

  test('X1 every route of the app is in the table of roles, and a request outside the table reaches no route', async () => {
    const routes = routesOf(server.app.router);
    expect(routes.length).toBeGreaterThan(30);
    const open = routes.filter(
      ({ method, path }) =>
        !accessRequirementOf(method, path) && !accessRequirementOf(method, `${PAGE_API_PATH}${path}`),
    );
    expect(open).toEqual([]);
    server.app.router.get('/new/route', (_request, response) => response.json({ reached: true }));
    // The last two layers answer unknown addresses and errors. The new route comes before them.
    const { stack } = server.app.router;
    stack.splice(-2, 0, ...stack.splice(-1));
    const answer = await request(server, { method: 'GET', path: '/new/route' });
    expect(answer.status).toBe(404);
  });
});

const layer = z.object({
  route: z.object({ path: z.unknown(), methods: z.record(z.string(), z.boolean()) }).optional(),
  handle: z.unknown(),
});

/** Returns the routes of an Express router and of the routers below it, with an example of each path. */
function routesOf(router: unknown): { method: string; path: string }[] {
  const stack = z.looseObject({ stack: z.array(z.unknown()) }).safeParse(Object.assign({}, router));
  if (!stack.success) return [];
  return stack.data.stack.flatMap((each) => {
    const { route, handle } = layer.parse(each);
    if (route === undefined) return routesOf(handle);
    return [route.path].flat().flatMap((path) =>
      Object.keys(route.methods).map((method) => ({
        method: method.toUpperCase(),
        path: String(path).replaceAll('\\:', '§').replaceAll(/:\w+/g, 'x').replaceAll('§', ':'),
      })),
    );
  });
}

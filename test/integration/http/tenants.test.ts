/** Tests tenants: principals of one tenant share tasks as their roles say, and the tasks of other tenants do not exist. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { makeToken } from '../../../a2a-server/access/issued-token.ts';
import { NO_ISSUED_TOKENS, type IssuedTokens } from '../../../a2a-server/access/issued-tokens.ts';
import { ROLES, type Role } from '../../../a2a-server/access/role.ts';
import { allAddresses, PAGE_API } from '../../../a2a-server/http/routes/allowed-methods.ts';
import { modelSettingsSchema } from '../../../a2a-server/models/model-settings.ts';
import { createModels } from '../../../a2a-server/startup/configured-models.ts';
import { pendingActions } from '../../../a2a-server/task/pending.ts';
import { TOOL_APPROVAL } from '../../../shared/protocol/extensions.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type RunningService, startTaskService } from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { request, rpc, startServer, userMessage } from './test-server.ts';
import type { RpcAnswer, TestServer } from './test-server.ts';

const PEOPLE = {
  ann: { tenant: 'acme', roles: ['delegate', 'approve'] },
  bob: { tenant: 'acme', roles: ['delegate', 'approve'] },
  olga: { tenant: 'acme', roles: ['operate'] },
  ray: { tenant: 'acme', roles: ['read'] },
  ci: { tenant: 'acme', roles: ['delegate'] },
  eve: { tenant: 'beta', roles: ROLES },
  zed: { roles: ROLES },
} as const satisfies Record<string, { tenant?: string; roles: readonly Role[] }>;
type Person = keyof typeof PEOPLE;

let server: TestServer;
let service: RunningService;
let tokens: Map<string, string>;
/** Ann's task. It waits for the approval of a file. */
let taskId: string;
let sessionId: string;

beforeEach(async () => {
  const clock = new FakeClock();
  const made = Object.entries(PEOPLE).map(([principal, { roles, ...more }]) =>
    makeToken({ principal, ...more, roles: [...roles], lifetimeMs: null }, clock.now()),
  );
  tokens = new Map(made.map(({ text, token }) => [token.principal, text]));
  const issued: IssuedTokens = {
    ...NO_ISSUED_TOKENS,
    find: (given) => made.find(({ text }) => text === given)?.token,
    active: (id) => made.find(({ token }) => token.id === id)?.token,
  };
  const directory = await temporaryDirectory();
  const models = createModels(modelSettingsSchema.parse({}), {});
  service = await startTaskService({ stateDir: directory, workspace: directory, models, clock });
  server = await startServer({ issued, clock, tasks: service.tasks });
  ({ taskId, sessionId } = await delegated('ann'));
});
afterEach(() => server.close());

type Headers = Record<string, string | undefined>;
const as = (person: Person): Headers => ({ authorization: `Bearer ${tokens.get(person)}` });
const get = (person: Person, path: string): Promise<RpcAnswer> =>
  request(server, { method: 'GET', path, headers: as(person) });
const post = (person: Person, path: string, body: object = {}): Promise<RpcAnswer> =>
  request(server, { path, body: JSON.stringify(body), headers: as(person) });

const taskSchema = z.object({ id: z.string(), contextId: z.string() });

async function delegated(person: Person): Promise<{ taskId: string; sessionId: string }> {
  const { body } = await post(person, '/message:send', userMessage('Create test.md with hello'));
  const { task } = z.object({ task: taskSchema }).parse(body);
  return { taskId: task.id, sessionId: task.contextId };
}

async function approval(): Promise<object> {
  const [pending] = pendingActions(await service.tasks.snapshot(taskId, { principal: 'acme/ann' }));
  const { callId, shown } = pending ?? {};
  return {
    data: { extension: TOOL_APPROVAL, decisions: [{ callId, shown, decision: 'approve', scope: 'once' }] },
  };
}

async function listed(person: Person): Promise<string[]> {
  const { body } = await get(person, '/tasks');
  return z
    .object({ tasks: z.array(taskSchema) })
    .parse(body)
    .tasks.map(({ id }) => id);
}

describe('within a tenant', () => {
  test.each<[Person, boolean]>([
    ['ann', true],
    ['bob', true],
    ['olga', true],
    ['ray', true],
    ['ci', false],
    ['eve', false],
    ['zed', false],
  ])("%s sees ann's task: %s", async (person, sees) => {
    expect((await get(person, `/tasks/${taskId}`)).status).toBe(sees ? 200 : 404);
    expect(await listed(person)).toEqual(sees ? [taskId] : []);
    expect((await get(person, `/api/tasks/${taskId}/receipt`)).status).toBe(sees ? 200 : 404);
    const ticket = await post(person, `/api/tasks/${taskId}/events/ticket`);
    expect(ticket.status).toBe(sees ? 200 : 404);
  });

  test('the role approve decides the task of another principal, and the record names who decided', async () => {
    const answer = await post('bob', '/message:send', userMessage([await approval()], { taskId }));
    expect(answer.status).toBe(200);
    const receipt = await get('ann', `/api/tasks/${taskId}/receipt`);
    expect(receipt.text).toContain('"principal": "acme/bob"');
  });

  test('the roles operate and read decide nothing', async () => {
    for (const person of ['olga', 'ray'] as const) {
      const answer = await post(person, '/message:send', userMessage([await approval()], { taskId }));
      expect(answer.status).toBe(403);
    }
    expect((await service.tasks.snapshot(taskId, { principal: 'acme/ann' })).status.state).toBe(
      'input-required',
    );
  });

  test('the role operate cancels the task of another principal, and delegate does not', async () => {
    const refused = await post('bob', `/tasks/${taskId}:cancel`);
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('needs the role operate');
    expect((await post('ray', `/tasks/${taskId}:cancel`)).status).toBe(403);
    expect((await post('ci', `/tasks/${taskId}:cancel`)).status).toBe(404);
    expect((await post('olga', `/tasks/${taskId}:cancel`)).status).toBe(200);
  });

  test('a message to the task of another principal needs delegate and approve', async () => {
    await post('bob', '/message:send', userMessage([await approval()], { taskId }));
    const second = await delegated('ann');
    const send = (person: Person) =>
      post(person, '/message:send', userMessage('and now?', { taskId: second.taskId }));
    expect((await send('ci')).status).toBe(404);
    expect((await send('olga')).status).toBe(403);
    expect((await send('bob')).text).not.toContain('FORBIDDEN');
  });

  test('only the owner of a session begins its next task', async () => {
    await post('bob', '/message:send', userMessage([await approval()], { taskId }));
    const next = (person: Person) =>
      post(person, '/message:send', userMessage('go on', { contextId: sessionId }));
    expect((await next('bob')).text).toContain('only acme/ann can begin its next task');
    expect((await next('eve')).status).toBe(404);
    expect((await next('ann')).status).toBe(200);
  });
});

describe('between tenants', () => {
  test('X1 with the token of another tenant, every address answers as for a task that does not exist', async () => {
    const known = await service.tasks.snapshot(taskId, { principal: 'acme/ann' });
    const callId = Object.keys(known.calls)[0] ?? '';
    const paths = allAddresses().filter(({ path }) => path.includes('{id}') && !path.startsWith(PAGE_API));
    expect(paths.length).toBeGreaterThan(15);
    for (const { method, path } of paths) {
      const ask = async (id: string) => {
        const [head = '', ...rest] = path.split('{id}');
        const legacy = path.startsWith('/v1/');
        const answer = await request(server, {
          method,
          path: `${head}${id}${rest.join(callId)}`,
          headers: { ...as('eve'), ...(legacy && { 'a2a-version': '0.3' }) },
        });
        return { status: answer.status, text: answer.text.replaceAll(id, 'ID') };
      };
      const [theirs, none] = [await ask(taskId), await ask('task-none')];
      expect([method, path, theirs]).toEqual([method, path, none]);
      // The abort of an unknown tool execution is an answer, not an error.
      if (!path.startsWith('/api/tools/abort/'))
        expect([method, path, theirs.status]).not.toEqual([method, path, 200]);
    }
  });

  test.each(['GetTask', 'CancelTask', 'SubscribeToTask'])(
    'X1 %s of a task of another tenant answers as for a task that does not exist',
    async (method) => {
      const ask = async (id: string) =>
        (await rpc(server, method, { id }, as('eve'))).text.replaceAll(id, 'ID');
      expect(await ask(taskId)).toBe(await ask('task-none'));
    },
  );

  test('X1 messages and decisions from another tenant reach no task and no session', async () => {
    const decided = await post('eve', '/message:send', userMessage([await approval()], { taskId }));
    expect(decided.status).toBe(404);
    expect((await post('eve', '/message:send', userMessage('hi', { taskId }))).status).toBe(404);
    expect((await post('eve', '/message:send', userMessage('hi', { contextId: sessionId }))).status).toBe(
      404,
    );
    expect((await post('eve', '/page/links', { taskId })).status).toBe(404);
  });

  test('X1 lists and costs have no entries of another tenant', async () => {
    expect(await listed('eve')).toEqual([]);
    for (const path of ['/api/costs', '/api/tools', `/api/tasks?prefix=${taskId.slice(0, 8)}`]) {
      const { text } = await get('eve', path);
      expect(text).not.toContain(taskId);
      expect(text).not.toContain(sessionId);
    }
  });
});

describe('the tenant of a request', () => {
  test("the caller's own tenant is accepted, in parameters and in paths", async () => {
    const task = await rpc(server, 'GetTask', { tenant: 'acme', id: taskId }, as('ann'));
    expect(task.text).toContain('"result"');
    expect((await get('ann', `/acme/tasks/${taskId}`)).status).toBe(200);
    expect((await get('ann', '/acme/tasks')).text).toContain(taskId);
    expect((await get('ann', `/tasks/${taskId}?tenant=acme`)).status).toBe(200);
    const sent = await post('ann', '/acme/message:send', userMessage('Create b.md with x'));
    expect(sent.status).toBe(200);
    expect((await post('ann', `/tasks/${taskId}:cancel`, { tenant: 'acme' })).status).toBe(200);
  });

  test.each<[Person, string]>([
    ['ann', 'beta'],
    ['eve', 'acme'],
    ['zed', 'acme'],
  ])('X1 for %s, the tenant %s does not exist', async (person, tenant) => {
    const called = await rpc(server, 'ListTasks', { tenant }, as(person));
    expect(called.text).toContain('There is no such tenant');
    expect((await get(person, `/${tenant}/tasks/${taskId}`)).status).toBe(404);
    expect((await get(person, `/${tenant}/tasks`)).status).toBe(404);
    expect((await get(person, `/tasks?tenant=${tenant}`)).status).toBe(404);
    const sent = await post(person, `/${tenant}/message:send`, userMessage('hi'));
    expect(sent.status).toBe(404);
    const inBody = await post(person, '/message:send', { tenant, ...userMessage('hi') });
    expect(inBody.status).toBe(404);
  });
});

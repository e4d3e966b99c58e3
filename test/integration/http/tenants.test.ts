/**
 * Tests tenants: principals of one tenant share tasks as their roles say, and the tasks of other tenants do not exist.
 */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { ALL_ADDRESSES, PAGE_API_PATH } from '../../../a2a-server/http/routes/methods-and-roles.ts';
import { request, rpc, signInToPage, userMessage } from './test-server.ts';
import { startTenantServer, taskSchema, type Person, type TenantServer } from './tenant-server.ts';

let people: TenantServer;
/** Ann's task. It waits for the approval of a file. */
let taskId: string;
let sessionId: string;

beforeEach(async () => {
  people = await startTenantServer();
  ({ taskId, sessionId } = await people.delegated('ann'));
});

const get = (person: Person, path: string) => people.get(person, path);
const post = (person: Person, path: string, body?: object) => people.post(person, path, body);
const as = (person: Person) => people.as(person);
const approval = (): Promise<object> => people.decision(taskId, 'approve');

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
    expect((await people.snapshot(taskId)).status.state).toBe('input-required');
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
    const second = await people.delegated('ann');
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
    const known = await people.snapshot(taskId);
    const callId = Object.keys(known.calls)[0] ?? '';
    const config = { id: 'ours', url: 'http://127.0.0.1:1/' };
    const configs = `/tasks/${taskId}/pushNotificationConfigs`;
    expect((await post('ann', configs, config)).status).toBe(200);
    const session = await signInToPage(people.server, as('eve'));
    const paths = Object.entries(ALL_ADDRESSES)
      .filter(([path]) => path.includes('{id}'))
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => ({ method, path })));
    expect(paths.length).toBeGreaterThan(40);
    for (const { method, path } of paths) {
      const [head = '', ...rest] = path.split('{id}');
      const isPush = path.includes('/pushNotificationConfigs');
      const headers = path.startsWith(PAGE_API_PATH)
        ? session
        : { ...as('eve'), ...(path.startsWith('/v1/') && { 'a2a-version': '0.3' }) };
      const ask = async (id: string) => {
        const answer = await request(people.server, {
          method,
          path: `${head}${id}${rest.join(isPush ? 'ours' : callId)}`,
          headers,
          ...(isPush && method === 'POST' && { body: JSON.stringify(config) }),
        });
        return { status: answer.status, text: answer.text.replaceAll(id, 'ID') };
      };
      const [theirs, none] = [await ask(taskId), await ask('task-none')];
      expect([method, path, theirs]).toEqual([method, path, none]);
      expect([method, path, theirs.status]).not.toEqual([method, path, 401]);
      // The abort of an unknown tool execution is an answer, not an error.
      if (!path.includes('/api/tools/abort/'))
        expect([method, path, theirs.status]).not.toEqual([method, path, 200]);
    }
    expect((await get('ann', `${configs}/ours`)).status).toBe(200);
    expect((await get('bob', configs)).text).not.toContain('ours');
  });

  test.each([
    'GetTask',
    'CancelTask',
    'SubscribeToTask',
    'CreateTaskPushNotificationConfig',
    'GetTaskPushNotificationConfig',
    'ListTaskPushNotificationConfigs',
    'DeleteTaskPushNotificationConfig',
  ])('X1 %s of a task of another tenant answers as for a task that does not exist', async (method) => {
    const ask = async (id: string) => {
      const isPush = method.includes('Push');
      const params = isPush ? { taskId: id, id: 'ours', url: 'http://127.0.0.1:1/' } : { id };
      return (await rpc(people.server, method, params, as('eve'))).text.replaceAll(id, 'ID');
    };
    expect(await ask(taskId)).toBe(await ask('task-none'));
  });

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
    const task = await rpc(people.server, 'GetTask', { tenant: 'acme', id: taskId }, as('ann'));
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
    const called = await rpc(people.server, 'ListTasks', { tenant }, as(person));
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

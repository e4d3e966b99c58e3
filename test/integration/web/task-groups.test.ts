/** The page's task list and its stream of changes, request by request, from a real server. */
import { expect, test } from '@jest/globals';
import {
  taskGroupPageSchema,
  taskGroupsSchema,
  type TaskGroups,
} from '../../../shared/protocol/task-groups.ts';
import { plan, shell, write } from '../../support/offline-plan.ts';
import { sharedStage } from '../../support/shared-stage.ts';
import { signedIn, type PageGet } from './support/page-requests.ts';

async function groups(get: PageGet, query = ''): Promise<TaskGroups> {
  return taskGroupsSchema.parse(await (await get(`/task-groups${query}`)).json());
}

test('the page’s list has what waits, oldest first, with its risk, and what has ended with its cost and its missing calls', async () => {
  const on = await sharedStage();
  const get = await signedIn(on);
  const first = await on.peer.send(plan(write('a.md', 'x'), { say: 'Done.' }));
  const second = await on.peer.send(plan({ together: [shell('echo 1'), shell('echo 2')] }));
  const ended = await on.peer.send('paint the moon');
  const { principal, waiting, working, ended: over, attention, workspaces } = await groups(get);
  expect(principal).toBe(on.principal);
  expect(waiting.tasks.map(({ taskId }) => taskId)).toEqual([first.taskId, second.taskId]);
  expect(waiting.tasks[0]).toMatchObject({
    title: 'Plan: write-file',
    state: 'waiting',
    workspace: on.server.workspace,
    waitingFor: { type: 'actions', count: 1, first: [{ tool: 'write-file', sideEffect: 'files' }] },
  });
  expect(waiting.tasks[1]?.waitingFor).toMatchObject({ type: 'actions', count: 2 });
  expect(working.tasks).toEqual([]);
  expect(over.tasks.map(({ taskId, state }) => [taskId, state])).toEqual([[ended.taskId, 'rejected']]);
  expect(over.tasks[0]?.activity).not.toBe('');
  expect(attention.count).toBe(3);
  expect(attention.tasks.map(({ taskId }) => taskId)).toEqual([second.taskId, first.taskId]);
  expect(workspaces).toEqual([on.server.workspace]);
});

test('R101 the page’s list reads on by tokens without a repeat, and its filters leave the count of waiting actions alone', async () => {
  const on = await sharedStage();
  const get = await signedIn(on);
  const ids: string[] = [];
  for (let index = 0; index < 5; index += 1) ids.unshift((await on.peer.send(`paint moon ${index}`)).taskId);
  const { taskId } = await on.peer.send(plan(write('needle.md', 'x')));
  const found: string[] = [];
  let token: string | null = null;
  do {
    const query: string = `?size=2${token === null ? '' : `&token=${token}`}`;
    const page = taskGroupPageSchema.parse(await (await get(`/task-groups/ended${query}`)).json());
    expect(page.total).toBe(5);
    found.push(...page.tasks.map((task) => task.taskId));
    token = page.next;
  } while (token !== null);
  expect(found).toEqual(ids);
  const needle = await groups(get, '?text=NEEDLE&state=waiting');
  expect(needle.waiting.tasks.map((task) => task.taskId)).toEqual([taskId]);
  expect(needle.ended.total).toBe(0);
  const moon = await groups(get, '?text=moon');
  expect([moon.waiting.total, moon.ended.total, moon.attention.count]).toEqual([0, 5, 1]);
  expect((await groups(get, '?state=failed')).ended.total).toBe(0);
  for (const path of [
    '/task-groups?state=odd',
    '/task-groups?token=x',
    '/task-groups/odd',
    '/task-groups?x=1',
  ])
    expect((await get(path)).status).toBeGreaterThanOrEqual(400);
});

test('X1 the stream of changes sends one event at its start, and one after a change of the principal’s own task', async () => {
  const on = await sharedStage();
  const get = await signedIn(on);
  const end = new AbortController();
  const response = await get('/task-changes', end.signal);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toBe('data: {}\n\n');
  const after = reader?.read();
  await on.peer.send('paint the moon');
  expect((await after)?.value).toBe('data: {}\n\n');
  end.abort();
  expect((await fetch(`${on.server.url}/page/api/task-changes`)).status).toBe(401);
  expect((await fetch(`${on.server.url}/page/api/task-groups`)).status).toBe(401);
});

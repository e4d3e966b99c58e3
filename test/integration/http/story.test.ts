/** Tests `GET /api/tasks/:taskId/story` on a real socket. */
import { beforeEach, expect, it } from '@jest/globals';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import { storyPageSchema } from '../../../shared/protocol/task-story.ts';
import { OTHER_TOKEN, request, startServer, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});

const call = { callId: 'c1', tool: 'run', title: 'run it' };

function start(...events: TaskEvent[]): string {
  return server.tasks.begin(events).taskId;
}

async function story(taskId: string, query = '') {
  const { status, body } = await request(server, {
    method: 'GET',
    path: `/api/tasks/${taskId}/story${query}`,
  });
  expect(status).toBe(200);
  return storyPageSchema.parse(body);
}

it('the story has the prompt, the model, joined text, and a call with its input, output and result', async () => {
  const taskId = start(
    { type: 'turn.started', turn: 1, model: 'm-1' },
    { type: 'text.delta', turn: 1, text: 'I ' },
    { type: 'text.delta', turn: 1, text: 'run it.' },
    { type: 'reasoning.delta', turn: 1, text: 'a secret thought' },
    {
      type: 'tool.requested',
      turn: 1,
      call: {
        ...call,
        modelCallId: 'm',
        input: { command: 'ls\npwd', depth: 2 },
        inputHash: 'h',
        sideEffect: 'command',
        source: { type: 'mcp-server', server: 'shell' },
        preview: { type: 'json', value: null },
        basis: null,
      },
      verdict: { type: 'ask', rule: 'rule 1 (ask)' },
    },
    { type: 'tool.started', ...call, toolId: 't1' },
    { type: 'tool.output', ...call, toolId: 't1', text: 'a' },
    { type: 'tool.output', ...call, toolId: 't1', text: 'b' },
    { type: 'tool.finished', ...call, toolId: 't1', outcome: { type: 'ok', text: 'ab', summary: 'exit 0' } },
    { type: 'task.completed' },
  );
  const { events, seq, more } = await story(taskId);
  expect({ seq, more }).toEqual({ seq: 12, more: false });
  expect(events).toMatchObject([
    { type: 'message', channel: 'a2a', text: 'hi' },
    { type: 'turn', model: 'm-1' },
    { type: 'text', text: 'I run it.' },
    {
      type: 'requested',
      input: { command: 'ls\npwd', depth: '2' },
      source: 'MCP server shell',
      verdict: 'a person decides, by rule 1 (ask)',
    },
    { type: 'started', toolId: 't1' },
    { type: 'output', text: 'ab' },
    { type: 'finished', outcome: 'ok', summary: 'exit 0', result: 'ab' },
    { type: 'ended', state: 'completed' },
  ]);
});

it('the story has the to-do list, and the reasoning of the model only on request', async () => {
  const todos = [{ text: 'one', status: 'done' as const }];
  const taskId = start(
    { type: 'reasoning.delta', turn: 1, text: 'I ' },
    { type: 'reasoning.delta', turn: 1, text: 'think' },
    { type: 'todos.updated', callId: 'c1', todos },
  );
  const todosEvent = { type: 'todos', seq: 5, todos };
  expect((await story(taskId)).events).toMatchObject([{ type: 'message' }, todosEvent]);
  expect((await story(taskId, '?after=0&reasoning=true')).events).toMatchObject([
    { type: 'message' },
    { type: 'reasoning', seq: 3, turn: 1, text: 'I think' },
    todosEvent,
  ]);
});

it('S1 the pages of a long story contain each piece of text once, in order', async () => {
  const pieces = Array.from({ length: 5_000 }, (_, n): TaskEvent => ({
    type: 'text.delta',
    turn: n,
    text: `${n} `,
  }));
  const taskId = start(...pieces);
  const texts: string[] = [];
  for (let after = 0, more = true; more;) {
    const page = await story(taskId, `?after=${after}`);
    texts.push(...page.events.flatMap((event) => (event.type === 'text' ? [event.text] : [])));
    expect(page.seq).toBeGreaterThan(after);
    ({ seq: after, more } = page);
  }
  expect(texts.join('')).toBe(pieces.map((_, n) => `${n} `).join(''));
});

it('X3 the story shortens a huge input, output and result, and says so', async () => {
  const huge = 'x'.repeat(500_000);
  const taskId = start(
    { type: 'tool.output', ...call, toolId: 't1', text: huge },
    { type: 'tool.finished', ...call, toolId: 't1', outcome: { type: 'ok', text: huge, summary: '' } },
  );
  const { events } = await story(taskId);
  expect(JSON.stringify(events).length).toBeLessThan(50_000);
  expect(events).toContainEqual(
    expect.objectContaining({ result: expect.stringContaining('480000 characters left out') }),
  );
});

it('X1 S2 another principal, a missing token and a wrong cursor get an error', async () => {
  const taskId = start();
  const status = async (query: string, headers: Record<string, string> = {}): Promise<number> =>
    (await request(server, { method: 'GET', path: `/api/tasks/${taskId}/story${query}`, headers })).status;
  expect(await status('', { authorization: `Bearer ${OTHER_TOKEN}` })).toBe(404);
  expect(await status('', { authorization: '' })).toBe(401);
  expect(await status('?after=99')).toBe(400);
  expect(await status('?after=-1')).toBe(400);
  expect(await status('?afer=1')).toBe(400);
  expect(await status('?reasoning=yes')).toBe(400);
});

/** Tests the preview of A2A 1.1 over HTTP: generations on answers and events, cursors, and the long-poll of GetTask. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { THINKING_EXTENSION } from '../../../shared/protocol/extensions.ts';
import { RESUMABLE_STREAM_EXTENSION } from '../../../shared/protocol/resumable-stream-extension.ts';
import { LONG_POLL_MS } from '../../../a2a-server/http/streams/long-poll-task.ts';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import { openStream, streamOf, type Streamed } from './event-source.ts';
import { request, rpc, startServer, userMessage, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => (server = await startServer({ heartbeatMs: 25, draftProtocols: ['a2a-1.1'] })));

/** Generation 2 to 5, with a hidden event and reasoning between them. */
const TURN: TaskEvent[] = [
  { type: 'task.working' },
  { type: 'turn.started', turn: 1, model: 'scripted' },
  { type: 'reasoning.delta', turn: 1, text: 'hmm' },
  { type: 'agent.session', turn: 1, agentSessionId: 'x' },
  { type: 'text.delta', turn: 1, text: 'Hello' },
  { type: 'turn.finished', turn: 1, end: 'stop', usage: { inputTokens: 1, outputTokens: 2 } },
];
const ENDED: TaskEvent = { type: 'task.completed' };

const newTask = (events: TaskEvent[] = []): string => server.tasks.begin(events).taskId;

const numbers = (events: Streamed[]): unknown[] => events.map(({ payload }) => payload['generation']);

/** Both bindings of 1.0 must give the same answers. */
const BINDINGS = [
  {
    binding: 'JSON-RPC',
    subscribe: (taskId: string, headers: Record<string, string> = {}) =>
      openStream(server, {
        body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'SubscribeToTask', params: { id: taskId } }),
        headers,
      }),
    get: (taskId: string, currentGeneration?: string | number) =>
      rpc(server, 'GetTask', { id: taskId, currentGeneration }),
    list: () => rpc(server, 'ListTasks', {}),
    send: (params: object) => rpc(server, 'SendMessage', params),
    task: z.object({ result: z.looseObject({}) }).transform(({ result }) => result),
  },
  {
    binding: 'HTTP+JSON',
    subscribe: (taskId: string, headers: Record<string, string> = {}) =>
      openStream(server, { path: `/tasks/${taskId}:subscribe`, headers }),
    get: (taskId: string, currentGeneration?: string | number) => {
      const query = currentGeneration === undefined ? '' : `?currentGeneration=${currentGeneration}`;
      return request(server, { method: 'GET', path: `/tasks/${taskId}${query}` });
    },
    list: () => request(server, { method: 'GET', path: '/tasks' }),
    send: (params: object) => request(server, { path: '/message:send', body: JSON.stringify(params) }),
    task: z.looseObject({}),
  },
];

describe.each(BINDINGS)('A2A 1.1 over $binding', ({ subscribe, get, list, send, task }) => {
  test('a task has its generation, in every answer, and no other trace of it', async () => {
    const taskId = newTask(TURN);
    server.tasks.onSend = () => ({ taskId, sessionId: 'session-1', seq: 8 });
    expect(task.parse((await get(taskId)).body)).toMatchObject({ generation: '5' });
    expect(task.parse((await list()).body)).toMatchObject({ tasks: [{ generation: '5' }] });
    const sent = await send({ ...userMessage('more'), configuration: { returnImmediately: true } });
    expect(task.parse(sent.body)).toMatchObject({ task: { generation: '5' } });
    expect((await get(taskId)).text).not.toContain('metadata');
  });

  test('S1 a stream begins with the task, and each later event has the next generation', async () => {
    const taskId = newTask(TURN.slice(0, 2));
    const opened = await subscribe(taskId);
    server.tasks.append(taskId, [...TURN.slice(2), ENDED]);
    const events = await streamOf(opened);
    expect(numbers(events)).toEqual(['3', '4', '5', '6']);
    expect(events.map(({ id }) => id)).toEqual(['3', '4', '5', '6']);
    expect(events[0]?.kind).toBe('task');
    expect(JSON.stringify(events)).not.toContain('a2a-1.1');
  });

  test('R25 a stream resumes after each generation, and replays the same events, also of an ended task', async () => {
    const taskId = newTask([...TURN, ENDED]);
    const whole = await streamOf(await subscribe(taskId, { 'last-event-id': '0' }));
    expect(numbers(whole)).toEqual(['1', '2', '3', '4', '5', '6']);
    for (const [index] of whole.entries()) {
      const rest = await streamOf(await subscribe(taskId, { 'last-event-id': String(index + 1) }));
      expect(rest).toEqual(whole.slice(index + 1));
    }
  });

  test('with the resumable-stream extension, the cursor is a seq, and the generations are the same', async () => {
    const taskId = newTask([...TURN, ENDED]);
    const headers = { 'a2a-extensions': RESUMABLE_STREAM_EXTENSION, 'last-event-id': '4' };
    const events = await streamOf(await subscribe(taskId, headers));
    expect(events.map(({ id }) => id)).toEqual(['7', '8', '9']);
    expect(numbers(events)).toEqual(['4', '5', '6']);
  });

  test('a client that gets reasoning sees no gap and no repeat either', async () => {
    const taskId = newTask([...TURN, ENDED]);
    const headers = { 'a2a-extensions': THINKING_EXTENSION, 'last-event-id': '3' };
    const events = await streamOf(await subscribe(taskId, headers));
    expect(numbers(events)).toEqual(['4', '5', '6', '7']);
  });

  test.each(['-1', '7', '9', '9999999999999999999999', 'x', '1.5', '0x1', '1e0'])(
    'R26 S2 the generation %p is refused as a cursor',
    async (cursor) => {
      const taskId = newTask([...TURN, ENDED]);
      const refused = await (await subscribe(taskId, { 'last-event-id': cursor })).text();
      expect(refused).toContain('INVALID_CURSOR');
      expect(refused).toContain('to 6.');
      expect(server.tasks.following).toBe(0);
    },
  );

  test('GetTask waits until the task is beyond the generation', async () => {
    const taskId = newTask(TURN.slice(0, 2));
    const answer = get(taskId, 4);
    await server.tasks.untilFollowed(taskId);
    server.tasks.append(taskId, TURN.slice(2, 5));
    server.tasks.append(taskId, TURN.slice(5));
    expect(task.parse((await answer).body)).toMatchObject({ generation: '5' });
    expect(server.tasks.following).toBe(0);
  });

  test.each([undefined, 4, '4', -1])('GetTask with the generation %p answers at once at 5', async (given) => {
    expect(task.parse((await get(newTask(TURN), given)).body)).toMatchObject({ generation: '5' });
  });

  test('GetTask answers when the task ends, when it has ended, and after the longest wait', async () => {
    const taskId = newTask(TURN);
    const ending = get(taskId, 99);
    await server.tasks.untilFollowed(taskId);
    server.tasks.append(taskId, [ENDED]);
    expect(task.parse((await ending).body)).toMatchObject({ generation: '6' });
    expect(task.parse((await get(taskId, 99)).body)).toMatchObject({ generation: '6' });
    const other = newTask(TURN);
    const waiting = get(other, 5);
    await server.tasks.untilFollowed(other);
    server.clock.advance(LONG_POLL_MS);
    expect(task.parse((await waiting).body)).toMatchObject({ generation: '5' });
  });

  test.each(['x', '1.5', '', '1e3', '99999999999999999999'])(
    'GetTask refuses the generation %p',
    async (given) => {
      const refused = await get(newTask(TURN), given);
      expect(refused.text).toContain('"reason":"MALFORMED"');
      expect(refused.text).toContain('currentGeneration: expected a whole number');
    },
  );

  test('ifGenerationMatch reaches the task service, and a value of another type does not', async () => {
    const params = {
      ...userMessage('hi'),
      configuration: { ifGenerationMatch: '3', returnImmediately: true },
    };
    await send(params);
    expect(server.tasks.received[0]?.expectedGeneration).toEqual({ generation: 3 });
    const refused = await send({ ...userMessage('hi'), configuration: { ifGenerationMatch: 'new' } });
    expect(refused.text).toContain('configuration.ifGenerationMatch');
    expect(server.tasks.received).toHaveLength(1);
  });

  test('a mismatch is the TaskGenerationMismatchError of the draft', async () => {
    const facts = { taskId: 't', expectedGeneration: '3', currentGeneration: '5' };
    server.tasks.onSend = () =>
      Promise.reject(new ProductError('TASK_GENERATION_MISMATCH', 'The task is at 5.', { facts }));
    const { status, body } = await send(userMessage('hi'));
    const info = { reason: 'TASK_GENERATION_MISMATCH', domain: 'a2a-protocol.org', metadata: facts };
    expect([status, body]).toMatchObject(
      status === 200
        ? [200, { error: { code: -32010, data: [info] } }]
        : [409, { error: { code: 409, status: 'ABORTED', details: [info] } }],
    );
  });
});

test('the agent card says that it is a preview, and which text it follows', async () => {
  const card = await request(server, { method: 'GET', path: '/.well-known/agent-card.json' });
  expect(card.body).toMatchObject({
    capabilities: {
      extensions: expect.arrayContaining([
        expect.objectContaining({
          uri: 'urn:mcp-a2a-bridge:preview:a2a-1.1',
          description: expect.stringContaining('A preview of A2A 1.1'),
          params: expect.objectContaining({ branch: 'dev-1.1' }),
        }),
      ]),
    },
  });
});

test('a client of A2A 0.3 gets no generation', async () => {
  const taskId = newTask(TURN);
  const answer = await rpc(server, 'tasks/get', { id: taskId }, { 'a2a-version': undefined });
  expect(answer.body).toMatchObject({ result: { kind: 'task' } });
  expect(answer.text).not.toContain('generation');
});

test('without the preview there is no generation, and the fields of the draft mean nothing', async () => {
  const plain = await startServer();
  const { taskId } = plain.tasks.begin([...TURN, ENDED]);
  const answer = await rpc(plain, 'GetTask', { id: taskId, currentGeneration: 'x' });
  expect(answer.body).toMatchObject({ result: { id: taskId } });
  expect(answer.text).not.toContain('generation');
  const refused = await openStream(plain, {
    path: `/tasks/${taskId}:subscribe`,
    headers: { 'last-event-id': '1' },
  });
  expect(refused.status).toBe(400);
  const configuration = { ifGenerationMatch: 'x', returnImmediately: true };
  await rpc(plain, 'SendMessage', { ...userMessage('hi'), configuration });
  expect(plain.tasks.received[0]).not.toHaveProperty('expectedGeneration');
});

/** Tests `tasks/stream` (SEP-2694, a preview) with the official MCP client over stdio. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import type { FakeAgent } from '../../support/fake-agent.ts';
import { append, plan } from '../../support/offline-plan.ts';
import { startServer } from '../../support/server-process.ts';
import { sseFrames } from '../../support/sse-frame.ts';
import {
  bridgeStart,
  closing,
  DELEGATE,
  program,
  startAgent,
  stateDirectory,
  type AgentAddress,
} from './support/bridge-stage.ts';
import { type TasksClient, tasksClient, type TasksClientOptions } from './support/tasks-client.ts';

const PREVIEW = ['--preview', 'mcp-tasks-stream'];
const eventSchema = z.looseObject({
  seq: z.number(),
  taskId: z.string(),
  type: z.string(),
  payload: z.record(z.string(), z.unknown()),
});
type Event = z.infer<typeof eventSchema>;
const anyResult = z.looseObject({});

interface StreamClient extends TasksClient {
  /** The events so far, of all streams. */
  events: Event[];
  /** Resolves when this many events have arrived. */
  arrived: (count: number) => Promise<void>;
  /** Resolves when the bridge closes the stream. */
  stream: (params: Record<string, unknown>, signal?: AbortSignal) => Promise<unknown>;
}

async function streamClient(
  agent: AgentAddress,
  { args = PREVIEW, ...options }: TasksClientOptions & { args?: readonly string[]; stateDir?: string } = {},
): Promise<StreamClient> {
  const { stateDir = await stateDirectory(), ...rest } = options;
  const client = closing(await tasksClient(program, await bridgeStart(agent, { args, stateDir }), rest));
  const events: Event[] = [];
  const waiting = new Set<() => void>();
  client.client.setNotificationHandler('notifications/tasks/event', { params: eventSchema }, (event) => {
    events.push(event);
    for (const look of waiting) look();
  });
  return {
    ...client,
    events,
    arrived: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (events.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    stream: (params, signal) =>
      client.client.request({ method: 'tasks/stream', params }, anyResult, signal ? { signal } : {}),
  };
}

async function delegated(client: TasksClient, given: Record<string, string> = {}): Promise<string> {
  const { result } = await client.ask('tools/call', {
    name: DELEGATE,
    arguments: { task: 'do it', ...given },
  });
  return z.looseObject({ taskId: z.string() }).parse(result).taskId;
}

const seqs = (events: readonly Event[]): number[] => events.map(({ seq }) => seq);

test('R25 R65 the events of a task over MCP are those of A2A, with the generation minus 1, also in the next bridge', async () => {
  const server = await startServer({ args: ['--preview', 'a2a-1.1'] });
  const first = await streamClient(server);
  const task = plan({ say: 'We begin.' }, append('effects.txt', 'one'), { say: 'We end.' });
  const taskId = await delegated(first, { task, workspace: server.workspace });
  const cut = first.stream({ taskId }).catch(() => 'cut');
  await first.arrived(4);
  const { pid } = first;
  if (pid === null) throw new Error('the bridge does not run');
  process.kill(pid, 'SIGKILL');
  expect(await cut).toBe('cut');

  const next = await streamClient(server);
  const after = 2;
  const rest = next.stream({ taskId, after });
  await next.arrived(1);
  const a2aId = z.string().parse(next.events[0]?.payload['taskId']);
  const headers = {
    authorization: `Bearer ${server.token}`,
    'a2a-version': '1.0',
    'content-type': 'application/json',
  };
  const message = { messageId: 'yes', role: 'ROLE_USER', taskId: a2aId, parts: [{ text: 'approve' }] };
  const body = JSON.stringify({ message });
  expect((await fetch(`${server.url}/message:send`, { method: 'POST', headers, body })).status).toBe(200);
  await rest;

  const subscribed = await fetch(`${server.url}/tasks/${a2aId}:subscribe`, {
    headers: { ...headers, 'last-event-id': '0' },
  });
  const generations: number[] = [];
  if (subscribed.body) for await (const { id } of sseFrames(subscribed.body)) generations.push(Number(id));
  const whole = [...first.events.slice(0, after + 1), ...next.events];
  expect(seqs(whole)).toEqual(generations.map((generation) => generation - 1));
  expect(first.events).toEqual(whole.slice(0, first.events.length));
  expect(whole.at(-1)?.payload).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });

  const { length } = next.events;
  await next.stream({ taskId, after: generations.length - 1 });
  expect(next.events).toHaveLength(length);
});

const working = (): Promise<FakeAgent> => startAgent({ onMessage: (task) => task.work().say('one') });

describe('tasks/stream', () => {
  test('S1 the bridge reads on after the agent’s stream breaks, and the client sees no gap and no repeat', async () => {
    const agent = await working();
    const client = await streamClient(agent);
    const ended = client.stream({ taskId: await delegated(client) });
    await client.arrived(2);
    agent.cutStreams();
    agent.task.say('two').say('three').complete();
    await ended;
    expect(seqs(client.events)).toEqual([0, 1, 2, 3, 4]);
  });

  test('a client may ask with the handle that it got before the agent had the task', async () => {
    const agent = await working();
    const release = agent.hold();
    const client = await streamClient(agent);
    const delegating = delegated(client);
    await agent.asked('SendStreamingMessage');
    const taskId = await delegating;
    expect(taskId).toMatch(/::::agent$/);
    const ended = client.stream({ taskId });
    release();
    await client.arrived(2);
    agent.task.complete();
    await ended;
    expect(client.events.every((event) => event.taskId === taskId)).toBe(true);
    expect(seqs(client.events)).toEqual([0, 1, 2]);
  });

  test('a connection has one stream for a task; a cancelled one makes room at once, and cancels no task', async () => {
    const agent = await working();
    const client = await streamClient(agent);
    const taskId = await delegated(client);
    const gone = new AbortController();
    const first = client.stream({ taskId }, gone.signal).catch(() => 'cancelled');
    await client.arrived(2);
    await expect(client.stream({ taskId })).rejects.toMatchObject({ code: -32602 });
    gone.abort();
    const second = client.stream({ taskId, after: 0 });
    expect(await first).toBe('cancelled');
    agent.task.say('two').complete();
    await second;
    expect(seqs(client.events)).toEqual([0, 1, 1, 2, 3]);
    expect(agent.count('CancelTask')).toBe(0);
  });

  test.each([-1, 1.5, '1', 'x'])('S2 the cursor %p is refused', async (after) => {
    const agent = await working();
    const client = await streamClient(agent);
    const taskId = await delegated(client);
    await expect(client.stream({ taskId, after })).rejects.toMatchObject({ code: -32602 });
  });

  test('an unknown task is refused, and so is an agent without resumable streams', async () => {
    const agent = await startAgent({ extensions: [], onMessage: (task) => task.ask(pendingWrite('one')) });
    const client = await streamClient(agent);
    await expect(client.stream({ taskId: 'x::y' })).rejects.toMatchObject({ code: -32602 });
    await expect(client.stream({ taskId: await delegated(client) })).rejects.toMatchObject({
      code: -32601,
      message: expect.stringContaining('no resumable streams'),
    });
  });

  test('the method exists only with the preview, and only for clients that declare tasks', async () => {
    const agent = await working();
    const plain = await streamClient(agent, { args: [] });
    await expect(plain.stream({ taskId: 'x::y' })).rejects.toMatchObject({ code: -32601 });
    const without = await streamClient(agent, { tasks: false });
    await expect(without.stream({ taskId: 'x::y' })).rejects.toMatchObject({ code: -32021 });
  });
});

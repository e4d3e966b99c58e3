/** Agents that use other SDKs than the bridge, or the older A2A 0.3, as these agents really behave. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { TaskState } from '@a2a-js/sdk';
import type { AgentExecutor } from '@a2a-js/sdk/server';
import { z } from 'zod';
import { plainAgent } from '../../support/fake-agent-plain.ts';
import { firstTask, part, agentMessage } from '../../support/fake-agent-task.ts';
import { listenOnLoopback } from '../../support/listen-on-loopback.ts';
import { CANCEL, DELEGATE, LIST, program, stateDirectory } from './support/bridge-stage.ts';
import { RawClient, textOf, type ToolResult, refusalOf, sessionOf } from './support/raw-client.ts';

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function bridgeTo(agent: { url: string; stop: () => Promise<unknown> }): Promise<RawClient> {
  cleanUps.push(agent.stop);
  const client = await RawClient.start(program, { stateDir: await stateDirectory(), agentUrl: agent.url });
  cleanUps.push(() => client.kill());
  return client;
}

interface Ids {
  taskId: string;
  contextId: string;
}

type Event = Parameters<Parameters<AgentExecutor['execute']>[1]['publish']>[0];

/** An agent that sends these events for each message, after the task itself. */
function sending(eventsOf: (ids: Ids) => readonly Event[]): AgentExecutor {
  return {
    execute({ taskId, contextId, userMessage }, bus) {
      const ids = { taskId, contextId };
      bus.publish({ kind: 'task', data: firstTask({ ...ids, userMessage }, TaskState.TASK_STATE_WORKING) });
      for (const event of eventsOf(ids)) bus.publish(event);
      bus.finished();
      return Promise.resolve();
    },
    cancelTask: () => Promise.resolve(),
  };
}

function chunk(ids: Ids, value: string, { append }: { append: boolean }): Event {
  const parts = [part({ $case: 'text', value })];
  const no = { metadata: undefined, extensions: [], description: '' };
  const artifact = { artifactId: 'answer', name: 'answer', parts, ...no };
  return {
    kind: 'artifactUpdate',
    data: { ...ids, artifact, append, lastChunk: false, metadata: undefined },
  };
}

/** @param text the text of the message in the status; undefined if it has no message */
function status(ids: Ids, state: TaskState, text?: string): Event {
  const message = text === undefined ? undefined : agentMessage(text, { ...ids, messageId: randomUUID() });
  const timestamp = new Date().toISOString();
  return {
    kind: 'statusUpdate',
    data: { ...ids, status: { state, timestamp, message }, metadata: undefined },
  };
}

const inChunks = sending((ids) => [
  chunk(ids, 'One, ', { append: false }),
  chunk(ids, 'two, ', { append: true }),
  chunk(ids, 'three.', { append: true }),
  status(ids, TaskState.TASK_STATE_COMPLETED),
]);

describe.each(['1.0', '0.3'] as const)('an agent of A2A %s that sends its answer in chunks', (version) => {
  test.each(['JSONRPC', 'HTTP+JSON'] as const)('the result over %s has all chunks', async (binding) => {
    const client = await bridgeTo(await plainAgent(version, { executor: inChunks, binding }));
    const done = await client.call(DELEGATE, { task: 'Count' });
    expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'One, two, three.' });
  });
});

describe.each(['1.0', '0.3'] as const)(
  'an agent of A2A %s that answers in a status, like the agents of Microsoft Agent Framework',
  (version) => {
    test('the result is its last message', async () => {
      const executor = sending((ids) => [
        status(ids, TaskState.TASK_STATE_WORKING, 'I look it up.'),
        status(ids, TaskState.TASK_STATE_WORKING, 'It is 42.'),
        status(ids, TaskState.TASK_STATE_COMPLETED),
      ]);
      const client = await bridgeTo(await plainAgent(version, { executor }));
      const done = await client.call(DELEGATE, { task: 'What is it?' });
      expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'It is 42.' });
    });
  },
);

const CARD = {
  name: 'worker',
  description: '',
  version: '1',
  defaultInputModes: ['text'],
  defaultOutputModes: ['text'],
  skills: [],
};
const rpcRequest = z.object({ id: z.unknown(), method: z.string() });

/**
 * Starts an agent whose request ends before its task, because the work goes on elsewhere. Like the server of the Python
 * SDK 0.3, it knows the task then, but answers a new subscription with `TaskNotFoundError`.
 */
async function agentThatLeavesItsStream(
  protocolVersion: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const ids = { id: 'task-1', contextId: 'context-1' };
  let fetched = 0;
  let url = '';
  const task = (): object => {
    const ended = ++fetched > 1;
    const artifacts = [{ artifactId: 'a', parts: [{ kind: 'text', text: 'Done elsewhere.' }] }];
    const now = { state: ended ? 'completed' : 'working' };
    return { kind: 'task', ...ids, status: now, ...(ended && { artifacts }) };
  };
  const server = createServer((request, response) => {
    void (async () => {
      if (request.method !== 'POST') {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ ...CARD, url, protocolVersion, capabilities: { streaming: true } }));
        return;
      }
      const { id, method } = rpcRequest.parse(await json(request));
      const reply = (body: object): string => JSON.stringify({ jsonrpc: '2.0', id, ...body });
      if (method === 'message/stream') {
        const first = { kind: 'task', ...ids, status: { state: 'working' } };
        response.setHeader('content-type', 'text/event-stream');
        response.end(`data: ${reply({ result: first })}\n\n`);
        return;
      }
      response.setHeader('content-type', 'application/json');
      response.end(
        method === 'tasks/get'
          ? reply({ result: task() })
          : reply({ error: { code: -32001, message: 'Task not found' } }),
      );
    })();
  });
  const { host, close } = await listenOnLoopback(server);
  url = `http://${host}`;
  return { url, stop: close };
}

describe.each(['0.3.0', '0.2.5'])(
  'an agent of A2A %s that knows a task, but refuses a subscription to it',
  (version) => {
    test('the bridge fetches the task until it has ended, and does not count it as lost', async () => {
      const client = await bridgeTo(await agentThatLeavesItsStream(version));
      const done = await client.call(DELEGATE, { task: 'Work elsewhere' });
      expect(done.structuredContent).toMatchObject({ state: 'completed', output: 'Done elsewhere.' });
    });
  },
);

describe('an agent of A2A 0.3, which cannot list its tasks', () => {
  test('the list shows the title and the time of a task that the bridge follows', async () => {
    const client = await bridgeTo(await plainAgent('0.3'));
    await client.call(DELEGATE, { task: 'Greet me' });
    const listed = await client.call(LIST, {});
    expect(listed.structuredContent).toMatchObject({
      sessions: [{ state: 'input_required', title: 'Greet me', updatedAt: expect.stringMatching(/^\d{4}-/) }],
    });
    expect(textOf(listed)).toContain(' — Greet me, ');
  });
});

/**
 * Starts an agent without streams. It answers a cancel with the task as it is, like the agents of Pydantic AI.
 * @param stops true if the task ends after that
 */
async function agentThatCancelsLater(stops: boolean): Promise<{ url: string; stop: () => Promise<void> }> {
  let asked = false;
  let url = '';
  const task = (): object => {
    const state = stops && asked ? 'canceled' : 'working';
    return { kind: 'task', id: 'task-1', contextId: 'context-1', status: { state } };
  };
  const server = createServer((request, response) => {
    void (async () => {
      response.setHeader('content-type', 'application/json');
      if (request.method !== 'POST') {
        response.end(JSON.stringify({ ...CARD, url, protocolVersion: '0.3.0', capabilities: {} }));
        return;
      }
      const { id, method } = rpcRequest.parse(await json(request));
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: task() }));
      if (method === 'tasks/cancel') asked = true;
    })();
  });
  const { host, close } = await listenOnLoopback(server);
  url = `http://${host}`;
  return { url, stop: close };
}

/** Delegates a task, and cancels it at once. */
async function cancelled(agent: { url: string; stop: () => Promise<void> }): Promise<ToolResult> {
  const client = await bridgeTo(agent);
  const started = await client.call(DELEGATE, { task: 'Work', waitSeconds: 0 });
  return client.call(CANCEL, { sessionId: sessionOf(started) });
}

describe('an agent that answers a cancel before the task has ended', () => {
  test('the result has the end, if the task ends soon', async () => {
    const result = await cancelled(await agentThatCancelsLater(true));
    expect(result.structuredContent).toMatchObject({ state: 'cancelled' });
  });

  test('the result says that the task has not ended, if it goes on', async () => {
    const result = await cancelled(await agentThatCancelsLater(false));
    expect(result.structuredContent).toMatchObject({ state: 'working' });
    expect(textOf(result)).toContain('has accepted the cancel, but the task has not ended');
  });
});

/** Starts an agent of A2A 1.0 over HTTP+JSON that refuses each message with an event, like those of the Go SDK. */
async function agentThatRefusesInStream(): Promise<{ url: string; stop: () => Promise<void> }> {
  let url = '';
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      const error = { code: 400, status: 'INVALID_ARGUMENT', message: 'There is no such skill.' };
      response.setHeader('content-type', 'text/event-stream');
      response.end(`data: ${JSON.stringify({ error })}\n\n`);
      return;
    }
    const supportedInterfaces = [{ url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...CARD, supportedInterfaces, capabilities: { streaming: true } }));
  });
  const { host, close } = await listenOnLoopback(server);
  url = `http://${host}`;
  return { url, stop: close };
}

describe('an agent that refuses a message with an event', () => {
  test('the delegation fails, and is not shown as working', async () => {
    const client = await bridgeTo(await agentThatRefusesInStream());
    const refused = await client.call(DELEGATE, { task: 'Work', waitSeconds: 5 });
    expect(refusalOf(refused)).toContain('has probably refused the message');
  });
});

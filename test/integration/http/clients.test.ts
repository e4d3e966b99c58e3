/** Tests the SDK's own clients with this server: 1.0 over both bindings, and 0.3 over JSON-RPC. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Role, TaskState } from '@a2a-js/sdk';
import type { SendMessageRequest, StreamResponse } from '@a2a-js/sdk';
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import type { RequestOptions, Transport } from '@a2a-js/sdk/client';
import { z } from 'zod';
import { LegacyJsonRpcTransport, LegacyRestTransport } from '@a2a-js/sdk/compat/v0_3/client';
import { RESUMABLE_STREAM_EXTENSION } from '../../../shared/protocol/resumable-stream-extension.ts';
import {
  pendingActionsPartSchema,
  taskOverviewSchema,
  TOOL_APPROVAL_EXTENSION,
} from '../../../shared/protocol/tool-approval.ts';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import { agentCard } from '../../../a2a-server/http/routes/agent-card.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { openStream, streamOf } from './event-source.ts';
import { request, startServer, TOKEN } from './test-server.ts';
import type { TestServer } from './test-server.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';

let server: TestServer;
beforeEach(async () => (server = await startServer()));

const fetchImpl: typeof fetch = (url, init) => {
  const headers = new Headers(init?.headers);
  headers.set('authorization', `Bearer ${TOKEN}`);
  return fetch(url, { ...init, headers });
};

interface Peer {
  peer: string;
  transport: () => Promise<Transport>;
  options: (...extensions: string[]) => RequestOptions;
}

const modern = (...extensions: string[]): RequestOptions => ({
  serviceParameters: {
    'A2A-Version': '1.0',
    ...(extensions.length > 0 && { 'A2A-Extensions': extensions.join(',') }),
  },
});

const legacy = (...extensions: string[]): RequestOptions => ({
  serviceParameters: extensions.length > 0 ? { 'X-A2A-Extensions': extensions.join(',') } : {},
});

const PEERS: Peer[] = [
  {
    peer: '1.0 over JSON-RPC',
    transport: () =>
      new JsonRpcTransportFactory({ fetchImpl }).create(server.url, agentCard(server.url, '1')),
    options: modern,
  },
  {
    peer: '1.0 over HTTP+JSON',
    transport: () => new RestTransportFactory({ fetchImpl }).create(server.url, agentCard(server.url, '1')),
    options: modern,
  },
  {
    peer: '0.3 over JSON-RPC',
    transport: () => Promise.resolve(new LegacyJsonRpcTransport({ endpoint: `${server.url}/`, fetchImpl })),
    options: legacy,
  },
  {
    peer: '0.3 over HTTP+JSON',
    transport: () => Promise.resolve(new LegacyRestTransport({ endpoint: server.url, fetchImpl })),
    options: legacy,
  },
];

const taskPageSchema = z.object({
  tasks: z.array(z.object({ id: z.string() })),
  nextPageToken: z.string(),
});

let messages = 0;
function saying(
  text: string,
  more: { returnImmediately?: boolean; taskId?: string } = {},
): SendMessageRequest {
  return {
    tenant: '',
    message: {
      messageId: `m-${++messages}`,
      contextId: '',
      taskId: more.taskId ?? '',
      role: Role.ROLE_USER,
      parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: more.returnImmediately ?? false,
    },
    metadata: undefined,
  };
}

const WRITE = pendingWrite('call-1', {
  title: 'Write test.md',
  input: { path: 'test.md', content: 'hello' },
  shown: '3f9ac2d1',
  preview: { type: 'diff', path: 'test.md', diff: '+hello' },
});

const ASKS: TaskEvent[] = [
  { type: 'task.working' },
  { type: 'turn.started', turn: 1, model: 'scripted' },
  { type: 'text.delta', turn: 1, text: 'I will write it.' },
  {
    type: 'tool.requested',
    turn: 1,
    call: { ...WRITE, inputHash: 'abc', modelCallId: 'x', basis: null },
    verdict: { type: 'ask' },
  },
  { type: 'turn.finished', turn: 1, end: 'tool-calls', usage: { inputTokens: 3, outputTokens: 4 } },
  { type: 'input.required', pending: [WRITE] },
];

async function all(stream: AsyncGenerator<StreamResponse>): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe.each(PEERS)('an A2A client of $peer', ({ peer, transport, options }) => {
  test('a client sends a message and gets the task once it waits, with a text that describes the pending action', async () => {
    server.tasks.onSend = (incoming) => server.tasks.start(incoming, ASKS);
    const result = await (await transport()).sendMessage(saying('go'), options());
    if (!('status' in result)) throw new Error('a task was expected');
    expect(result.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const parts = result.status?.message?.parts ?? [];
    expect(parts.map(({ content }) => content?.$case)).toEqual(['text']);
    expect(String(parts[0]?.content?.value)).toMatch(
      /Write test\.md[\s\S]*\+hello[\s\S]*exactly "approve" or "deny"/,
    );
    expect(result.artifacts).toMatchObject([{ artifactId: 'turn-1', name: 'response' }]);
    expect(result.history.map(({ role }) => role)).toEqual([Role.ROLE_USER, Role.ROLE_AGENT]);
    expect(result.metadata).toBeUndefined();
  });

  test('a client with the approval extension gets the pending action as data, and the overview', async () => {
    server.tasks.onSend = (incoming) => server.tasks.start(incoming, ASKS);
    const result = await (await transport()).sendMessage(saying('go'), options(TOOL_APPROVAL_EXTENSION));
    if (!('status' in result)) throw new Error('a task was expected');
    const data = result.status?.message?.parts.find(({ content }) => content?.$case === 'data');
    expect(pendingActionsPartSchema.parse(data?.content?.value).pending).toEqual([
      { ...WRITE, first: true, shown: expect.stringMatching(/^[0-9a-f]{8}$/) },
    ]);
    expect(taskOverviewSchema.parse(result.metadata?.[TOOL_APPROVAL_EXTENSION])).toMatchObject({
      turns: 1,
      calls: [{ callId: 'call-1', state: 'waiting' }],
      usage: { inputTokens: 3, outputTokens: 4 },
    });
  });

  test('a client can get the task at once, without waiting for it', async () => {
    const result = await (
      await transport()
    ).sendMessage(saying('go', { returnImmediately: true }), options());
    expect(result).toMatchObject({ status: { state: TaskState.TASK_STATE_SUBMITTED } });
    expect(server.tasks.following).toBe(0);
  });

  test('a client gets a new task in a new context for each message that names no context', async () => {
    const client = await transport();
    const send = () => client.sendMessage(saying('go', { returnImmediately: true }), options());
    const [first, second] = [await send(), await send()];
    if (!('status' in first && 'status' in second)) throw new Error('two tasks were expected');
    const ids = [first.id, first.contextId, second.id, second.contextId];
    expect(ids.every((id) => id.length > 0)).toBe(true);
    expect(new Set(ids).size).toBe(4);
  });

  test('a client receives the stream of a message to its end', async () => {
    server.tasks.onSend = (incoming) => server.tasks.start(incoming, ASKS);
    const events = await all(
      (await transport()).sendMessageStream(saying('go'), options(TOOL_APPROVAL_EXTENSION)),
    );
    expect(events.map(({ payload }) => payload?.$case)).toEqual([
      'task',
      'statusUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'statusUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    expect(events[4]?.payload?.value).toMatchObject({
      metadata: {
        [TOOL_APPROVAL_EXTENSION]: { activity: { type: 'tool.requested', callId: 'call-1', asks: true } },
      },
    });
  });

  test('a client subscribes, and gets the task and the later events', async () => {
    const { taskId } = server.tasks.begin(ASKS);
    const events = all((await transport()).resubscribeTask({ tenant: '', id: taskId }, options()));
    await server.tasks.untilFollowed(taskId);
    server.tasks.append(taskId, [{ type: 'task.working' }, { type: 'task.failed', message: 'no luck' }]);
    expect((await events).map(({ payload }) => payload)).toMatchObject([
      { $case: 'task', value: { id: taskId } },
      { $case: 'statusUpdate', value: { status: { state: TaskState.TASK_STATE_WORKING } } },
      { $case: 'statusUpdate', value: { status: { state: TaskState.TASK_STATE_FAILED } } },
    ]);
  });

  test('a client gets a task with the requested number of messages, and cancels it', async () => {
    const client = await transport();
    const { taskId } = server.tasks.begin(ASKS);
    const get = (historyLength?: number) =>
      client.getTask({ tenant: '', id: taskId, historyLength }, options());
    expect((await get()).history).toHaveLength(2);
    expect((await get(1)).history).toMatchObject([{ role: Role.ROLE_AGENT }]);
    expect((await get(0)).history).toEqual([]);
    const cancelled = await client.cancelTask({ tenant: '', id: taskId, metadata: undefined }, options());
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    await expect(
      client.cancelTask({ tenant: '', id: taskId, metadata: undefined }, options()),
    ).rejects.toMatchObject({ name: 'TaskNotCancelableError' });
  });

  test('D1 a client gets a machine-readable reason for a refusal', async () => {
    server.tasks.onSend = () => {
      throw new ProductError('ALREADY_DECIDED', 'Call call-1 was decided before: deny.', {
        facts: { callId: 'call-1', firstDecision: 'deny' },
      });
    };
    const client = await transport();
    const error: unknown = await client
      .sendMessage(saying('approve', { taskId: 'task-1' }), options())
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: 'UnsupportedOperationError',
      message: 'Call call-1 was decided before: deny.',
    });
    const metadata = {
      reason: 'ALREADY_DECIDED',
      retryable: 'false',
      callId: 'call-1',
      firstDecision: 'deny',
    };
    // The SDK's client of 0.3 over HTTP+JSON drops the other fields of the answer.
    if (peer !== '0.3 over HTTP+JSON')
      expect(error).toMatchObject(
        error instanceof Error && 'data' in error ? { data: [{ metadata }] } : { metadata },
      );
    await expect(all(client.sendMessageStream(saying('approve'), options()))).rejects.toThrow(
      'decided before',
    );
  });

  test('a client gets no details of an unexpected error; only the server’s log has them', async () => {
    server.tasks.onSend = () => {
      throw new Error('secret detail');
    };
    const sent = (await transport()).sendMessage(saying('go'), options());
    await expect(sent).rejects.toThrow('an unexpected error');
    expect(server.logged()).toContain('secret detail');
  });
});

describe('A2A 1.0', () => {
  test('the SDK’s client factory needs only the server’s address', async () => {
    const client = await new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
    }).createFromUrl(server.url);
    server.tasks.onSend = (incoming) => server.tasks.start(incoming, [{ type: 'task.completed' }]);
    await expect(client.sendMessage(saying('go'), modern())).resolves.toMatchObject({
      status: { state: TaskState.TASK_STATE_COMPLETED },
    });
  });

  test('a client lists tasks in pages, with filters; it gets artifacts only on request', async () => {
    const first = server.tasks.begin(ASKS);
    server.tasks.begin([{ type: 'task.completed' }]);
    server.tasks.begin(ASKS);
    for (const { transport } of PEERS.slice(0, 2)) {
      const list = async (more: object) =>
        (await transport()).listTasks(
          {
            tenant: '',
            contextId: '',
            status: TaskState.TASK_STATE_UNSPECIFIED,
            pageToken: '',
            statusTimestampAfter: undefined,
            ...more,
          },
          modern(),
        );
      const page = await list({ pageSize: 2 });
      expect(page).toMatchObject({ totalSize: 3, pageSize: 2, nextPageToken: '2' });
      expect(page.tasks[0]?.artifacts).toEqual([]);
      expect(await list({ pageSize: 2, pageToken: '2' })).toMatchObject({ nextPageToken: '', tasks: [{}] });
      expect((await list({ status: TaskState.TASK_STATE_INPUT_REQUIRED })).totalSize).toBe(2);
      expect((await list({ status: TaskState.TASK_STATE_AUTH_REQUIRED })).totalSize).toBe(0);
      const ofSession = await list({ contextId: first.sessionId, includeArtifacts: true, historyLength: 0 });
      expect(ofSession.tasks).toMatchObject([{ id: first.taskId, history: [], artifacts: [{}] }]);
      expect((await list({ statusTimestampAfter: '2030-01-01T00:00:00Z' })).totalSize).toBe(0);
    }
  });

  test('X3 a page of long tasks ends before its size, and the next page continues after it', async () => {
    const text = 'x'.repeat(2 * 1024 * 1024);
    const long: TaskEvent[] = [
      { type: 'turn.started', turn: 1, model: 'scripted' },
      { type: 'text.delta', turn: 1, text },
    ];
    const ids = [1, 2, 3, 4, 5, 6].map(() => server.tasks.begin(long).taskId);
    const path = '/tasks?pageSize=100&includeArtifacts=true';
    const pages = [];
    for (let token = ''; pages.length === 0 || token !== '';) {
      const { body } = await request(server, { method: 'GET', path: `${path}&pageToken=${token}` });
      const page = taskPageSchema.parse(body);
      pages.push(page.tasks.map(({ id }) => id));
      token = page.nextPageToken;
    }
    expect(pages).toEqual([ids.slice(0, 4), ids.slice(4)]);
  });

  test('the reason of a cancel reaches the server, over both bindings', async () => {
    const metadata = { reason: 'changed my mind' };
    for (const { transport } of PEERS.slice(0, 2)) {
      const { taskId } = server.tasks.begin();
      const client = await transport();
      if (client.protocolName === 'HTTP+JSON')
        await request(server, { path: `/tasks/${taskId}:cancel`, body: JSON.stringify({ metadata }) });
      else await client.cancelTask({ tenant: '', id: taskId, metadata }, modern());
      expect(server.tasks.cancelled.at(-1)).toEqual({ taskId, reason: 'changed my mind', channel: 'a2a' });
    }
  });

  test('R27 the same message has the same hash over every binding and version', async () => {
    const message = saying('go', { returnImmediately: true });
    for (const { transport, options } of PEERS) await (await transport()).sendMessage(message, options());
    const hashes = server.tasks.received.map(({ bodyHash }) => bodyHash);
    expect(new Set(hashes).size).toBe(1);
    await (await PEERS[0]?.transport())?.sendMessage(saying('stop', { returnImmediately: true }), modern());
    expect(server.tasks.received.at(-1)?.bodyHash).not.toBe(hashes[0]);
  });

  test('the server refuses the extended card, because the public card is complete', async () => {
    for (const { transport } of PEERS.slice(0, 2))
      await expect((await transport()).getExtendedAgentCard({ tenant: '' }, modern())).rejects.toMatchObject({
        name: 'UnsupportedOperationError',
      });
  });
});

/** Sends a JSON-RPC request in the format of a 0.3 client. */
function old(method: string, params: object, headers: Record<string, string> = {}): Promise<Response> {
  return openStream(server, {
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    headers: { 'a2a-version': '', ...headers },
  });
}

describe('A2A 0.3', () => {
  const message = {
    kind: 'message',
    messageId: 'old-1',
    role: 'user',
    parts: [{ kind: 'text', text: 'go' }],
  };

  test('a message’s stream sends `final` only when the task waits', async () => {
    server.tasks.onSend = (incoming) => server.tasks.start(incoming, ASKS);
    const events = await streamOf(await old('message/stream', { message }));
    expect(events.map(({ kind }) => kind)).toEqual([
      'task',
      'status-update',
      'artifact-update',
      'artifact-update',
      'status-update',
      'artifact-update',
      'status-update',
    ]);
    expect(
      events.filter(({ payload }) => payload['final'] === true).map(({ payload }) => payload['status']),
    ).toMatchObject([{ state: 'input-required' }]);
  });

  test('a subscription sends `final` when the task ends, and not while it waits', async () => {
    const { taskId } = server.tasks.begin([{ type: 'task.working' }]);
    const events = old('tasks/resubscribe', { id: taskId }).then(streamOf);
    await server.tasks.untilFollowed(taskId);
    server.tasks.append(taskId, [
      { type: 'input.required', pending: [WRITE] },
      { type: 'task.working' },
      { type: 'task.completed' },
    ]);
    expect((await events).slice(1).map(({ payload }) => payload['final'])).toEqual([false, false, true]);
  });

  test('a subscription to an ended task sends the task and closes, as a2a.proto of A2A 0.3 says', async () => {
    const { taskId } = server.tasks.begin([{ type: 'task.working' }, { type: 'task.completed' }]);
    const overRpc = await streamOf(await old('tasks/resubscribe', { id: taskId }));
    expect(overRpc.map(({ payload }) => payload)).toMatchObject([
      { kind: 'task', id: taskId, status: { state: 'completed' } },
    ]);
    const opened = await openStream(server, {
      path: `/v1/tasks/${taskId}:subscribe`,
      headers: { 'a2a-version': '' },
    });
    expect((await streamOf(opened)).map(({ payload }) => payload)).toMatchObject([
      { id: taskId, status: { state: 'TASK_STATE_COMPLETED' } },
    ]);
  });

  test('S1 ids and cursors work as in 1.0', async () => {
    const { taskId } = server.tasks.begin([{ type: 'task.working' }, { type: 'task.completed' }]);
    const opened = await old(
      'tasks/resubscribe',
      { id: taskId },
      { 'X-A2A-Extensions': RESUMABLE_STREAM_EXTENSION, 'last-event-id': '2' },
    );
    expect(opened.headers.get('x-a2a-extensions')).toBe(RESUMABLE_STREAM_EXTENSION);
    expect((await streamOf(opened)).map(({ id }) => id)).toEqual(['3', '4']);
    // Over HTTP+JSON, only the metadata contains the number.
    const rest = await openStream(server, {
      path: `/v1/tasks/${taskId}:subscribe`,
      headers: { 'a2a-version': '', 'X-A2A-Extensions': RESUMABLE_STREAM_EXTENSION, 'last-event-id': '2' },
    });
    const replayed = await streamOf(rest);
    expect(replayed.map(({ id }) => id)).toEqual([undefined, undefined]);
    for (const [n, { payload }] of replayed.entries())
      expect(payload).toMatchObject({ metadata: { [RESUMABLE_STREAM_EXTENSION]: { seq: n + 3 } } });
  });

  test('D1 a refusal over HTTP+JSON has its reason and its facts in `data`', async () => {
    const answer = await request(server, {
      path: '/v1/message:send',
      headers: { 'a2a-version': undefined },
      body: JSON.stringify({
        message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: ['approve'] }] },
      }),
    });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: -32602, data: [{ metadata: { reason: 'MALFORMED' } }] });
    expect(server.tasks.received).toEqual([]);
  });

  test('D1 a text that is not a string never counts as an approval', async () => {
    const parts = [{ kind: 'text', text: ['approve'] }];
    const answer = await old('message/send', { message: { ...message, parts } });
    expect(await answer.text()).toContain('-32602');
    expect(server.tasks.received).toEqual([]);
  });
});

describe('aborting a tool over HTTP', () => {
  test('R40 the response says what happened, and the journal records the reason with the principal', async () => {
    const stopped = await request(server, { path: '/api/tools/abort/tool-1', body: '{"reason":"too slow"}' });
    expect(stopped.body).toEqual({ success: true, message: 'asked for tool-1' });
    const unknown = await request(server, { path: '/api/tools/abort/tool-2' });
    expect(unknown.body).toEqual({ success: false, message: 'asked for tool-2' });
    expect(server.tasks.aborted).toEqual([
      { toolId: 'tool-1', principal: 'local', reason: 'too slow' },
      { toolId: 'tool-2', principal: 'local', reason: 'no reason was given' },
    ]);
  });

  test('R40 an invalid body is refused, and no tool is aborted', async () => {
    const answer = await request(server, { path: '/api/tools/abort/tool-1', body: '{"force":true}' });
    expect(answer.status).toBe(400);
    expect(server.tasks.aborted).toEqual([]);
  });
});

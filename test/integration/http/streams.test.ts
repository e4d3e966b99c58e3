import { beforeEach, describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { RESUMABLE_STREAM_EXTENSION } from '../../../shared/protocol/resumable-stream-extension.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/tool-approval.ts';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import { STREAM_LIFETIME_MS } from '../../../a2a-server/http/streams/task-stream.ts';
import { request, rpc, startServer, TOKEN, userMessage } from './test-server.ts';
import type { TestServer } from './test-server.ts';
import { openStream, streamOf } from './event-source.ts';
import { TURN } from './scripted-tasks.ts';
import type { Streamed } from './event-source.ts';

let server: TestServer;
beforeEach(async () => (server = await startServer({ heartbeatMs: 25 })));

const said = (text: string): TaskEvent => ({ type: 'text.delta', turn: 1, text });
const WAITS: TaskEvent = { type: 'input.required', pending: [] };

const newTask = (events: TaskEvent[] = []): string => server.tasks.begin(events).taskId;

const RESUMABLE = { 'a2a-extensions': RESUMABLE_STREAM_EXTENSION };

const seqs = (events: Streamed[]): number[] => events.map(({ id }) => Number(id));

describe.each([
  { version: '1.0', prefix: '' },
  { version: '0.3', prefix: '/v1' },
])('HEAD for a subscription of A2A $version over HTTP+JSON', ({ version, prefix }) => {
  const head = (taskId: string): Promise<Response> =>
    fetch(`${server.url}${prefix}/tasks/${taskId}:subscribe`, {
      method: 'HEAD',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'a2a-version': version,
        'a2a-extensions': RESUMABLE_STREAM_EXTENSION,
        'last-event-id': '7',
      },
    });

  test('gets only the headers, and opens no stream', async () => {
    const taskId = newTask(TURN);
    const closed = server.closedFor('answered');
    const answer = await head(taskId);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/event-stream'),
    ]);
    expect(server.tasks.following).toBe(0);
    await closed;
  });

  test('gets the status of a refusal', async () => {
    expect((await head('unknown')).status).toBe(404);
  });
});

/** Both bindings of 1.0 must give the same streams. */
const BINDINGS = [
  {
    binding: 'JSON-RPC',
    subscribe: (taskId: string, headers: Record<string, string> = {}) =>
      openStream(server, {
        body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'SubscribeToTask', params: { id: taskId } }),
        headers,
      }),
    send: (params: unknown, headers: Record<string, string> = {}) =>
      openStream(server, {
        body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'SendStreamingMessage', params }),
        headers,
      }),
  },
  {
    binding: 'HTTP+JSON',
    subscribe: (taskId: string, headers: Record<string, string> = {}) =>
      openStream(server, { path: `/tasks/${taskId}:subscribe`, headers }),
    send: (params: unknown, headers: Record<string, string> = {}) =>
      openStream(server, { path: '/message:stream', body: JSON.stringify(params), headers }),
  },
];

describe.each(BINDINGS)('streams over $binding', ({ subscribe, send }) => {
  test('R05 a message’s stream begins with the task and ends when the task waits', async () => {
    server.tasks.onSend = (incoming) => server.tasks.start(incoming, [...TURN, WAITS]);
    const events = await streamOf(await send(userMessage('hi')));
    expect(events.map(({ kind }) => kind)).toEqual([
      'task',
      'statusUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    expect(events.at(-1)?.payload).toMatchObject({ status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
    expect(events.every(({ id }) => id === undefined)).toBe(true);
  });

  test('the server sends an event before the next one occurs', async () => {
    const opened = await send(userMessage('hi'));
    const reader = opened.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const until = async (sign: string): Promise<void> => {
      while (!text.includes(sign)) text += (await reader?.read())?.value ?? '';
    };
    await until('TASK_STATE_SUBMITTED');
    // `task-1` is the id of this server's first task.
    server.tasks.append('task-1', [{ type: 'task.working' }]);
    await until('TASK_STATE_WORKING');
    server.tasks.append('task-1', [{ type: 'task.completed' }]);
    await until('TASK_STATE_COMPLETED');
  });

  test('a message’s stream ends when the task ends', async () => {
    server.tasks.onSend = (incoming) => server.tasks.start(incoming, [...TURN, { type: 'task.completed' }]);
    const events = await streamOf(await send(userMessage('hi')));
    expect(events.at(-1)?.payload).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  });

  test('S1 the first text event of a turn creates an artifact, and later text events append to it', async () => {
    server.tasks.onSend = (incoming) => server.tasks.start(incoming, [...TURN, { type: 'task.completed' }]);
    const events = await streamOf(await send(userMessage('hi')));
    const chunks = events.filter(({ kind }) => kind === 'artifactUpdate').map(({ payload }) => payload);
    expect(chunks).toMatchObject([
      { artifact: { artifactId: 'turn-1', name: 'response', parts: [{ text: '' }] } },
      { append: true, artifact: { artifactId: 'turn-1', parts: [{ text: 'Hel' }] } },
      { append: true, artifact: { artifactId: 'turn-1', parts: [{ text: 'lo' }] } },
      { append: true, lastChunk: true, artifact: { artifactId: 'turn-1', parts: [{ text: '' }] } },
    ]);
    expect(chunks[0]).not.toHaveProperty('append');
  });

  test('S1 with the extension every event has its seq, also as the SSE id, and the response names the extension', async () => {
    server.tasks.onSend = (incoming) => server.tasks.start(incoming, [...TURN, { type: 'task.completed' }]);
    const opened = await send(userMessage('hi'), RESUMABLE);
    expect(opened.headers.get('a2a-extensions')).toBe(RESUMABLE_STREAM_EXTENSION);
    const events = await streamOf(opened);
    expect(seqs(events)).toEqual([2, 3, 4, 5, 6, 7, 8]);
    for (const { id, payload } of events)
      expect(payload).toMatchObject({ metadata: { [RESUMABLE_STREAM_EXTENSION]: { seq: Number(id) } } });
  });

  test('a subscription sends the task first and then all later events to the end, also while the task waits', async () => {
    const taskId = newTask(TURN.slice(0, 3));
    const opened = await subscribe(taskId);
    const events = streamOf(opened);
    await server.tasks.untilFollowed(taskId);
    server.tasks.append(taskId, [said('lo'), WAITS]);
    server.tasks.append(taskId, [
      { type: 'task.working' },
      { type: 'auth.required', question: 'Sign in first.' },
    ]);
    server.tasks.append(taskId, [{ type: 'task.working' }, { type: 'task.completed' }]);
    const seen = await events;
    expect(seen[0]?.payload).toMatchObject({
      id: taskId,
      artifacts: [{ artifactId: 'turn-1', parts: [{ text: 'Hel' }] }],
    });
    expect(seen.slice(1).map(({ payload }) => payload['status'] ?? payload['artifact'])).toMatchObject([
      { parts: [{ text: 'lo' }] },
      { state: 'TASK_STATE_INPUT_REQUIRED' },
      { state: 'TASK_STATE_WORKING' },
      { state: 'TASK_STATE_AUTH_REQUIRED' },
      { state: 'TASK_STATE_WORKING' },
      { state: 'TASK_STATE_COMPLETED' },
    ]);
  });

  test('a subscription to an ended task is refused, as A2A 1.0 §3.1.6 requires', async () => {
    const taskId = newTask([{ type: 'task.completed' }]);
    const opened = await subscribe(taskId);
    expect(await opened.text()).toContain('TASK_ENDED');
    expect(opened.headers.get('content-type')).not.toContain('event-stream');
  });

  test('S1 R25 for every cut, the events before it and the replayed events after it are the whole journal', async () => {
    const taskId = newTask([...TURN, { type: 'task.completed' }]);
    const whole = await streamOf(await subscribe(taskId, { ...RESUMABLE, 'last-event-id': '0' }));
    // Clients do not get the event message.received, which has seq 2.
    expect(seqs(whole)).toEqual([1, 3, 4, 5, 6, 7, 8]);
    for (let cut = 0; cut <= 8; cut++) {
      const rest = await streamOf(await subscribe(taskId, { ...RESUMABLE, 'last-event-id': String(cut) }));
      expect(rest).toEqual(whole.filter(({ id }) => Number(id) > cut));
    }
  });

  test('a replay reads no snapshot, so its cost does not grow with the task', async () => {
    const taskId = newTask([...TURN, { type: 'task.completed' }]);
    const rest = await streamOf(await subscribe(taskId, { ...RESUMABLE, 'last-event-id': '7' }));
    expect(seqs(rest)).toEqual([8]);
    expect(server.tasks.snapshots).toBe(0);
  });

  test('a replay of a live task continues with new events, and sends its headers at once even if no event occurs', async () => {
    const taskId = newTask(TURN);
    const opened = await subscribe(taskId, { ...RESUMABLE, 'last-event-id': '7' });
    expect(opened.status).toBe(200);
    server.tasks.append(taskId, [{ type: 'task.completed' }]);
    expect(seqs(await streamOf(opened))).toEqual([8]);
  });

  test('S3 a stream that its client can resume ends after its maximum lifetime, and continues from the cursor', async () => {
    const taskId = newTask(TURN);
    const first = await subscribe(taskId, { ...RESUMABLE, 'last-event-id': '5' });
    await server.tasks.untilFollowed(taskId);
    server.clock.advance(STREAM_LIFETIME_MS - 1);
    expect(server.tasks.following).toBe(1);
    server.clock.advance(1);
    expect(seqs(await streamOf(first))).toEqual([6, 7]);
    await server.closedFor('lifetime-over');
    expect(server.tasks.following).toBe(0);
    const second = await subscribe(taskId, { ...RESUMABLE, 'last-event-id': '7' });
    server.tasks.append(taskId, [{ type: 'task.completed' }]);
    expect(seqs(await streamOf(second))).toEqual([8]);
  });

  test('S3 a stream that its client cannot resume has no maximum lifetime', async () => {
    const taskId = newTask(TURN);
    const opened = await subscribe(taskId);
    await server.tasks.untilFollowed(taskId);
    server.clock.advance(10 * STREAM_LIFETIME_MS);
    server.tasks.append(taskId, [{ type: 'task.completed' }]);
    const events = await streamOf(opened);
    expect(events.at(-1)?.payload).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
  });

  test.each(['-1', '9', '9999999999999999999999', 'x', '1.5', '0x1', ' ', '1e0'])(
    'R26 S2 the cursor %p is refused as invalid',
    async (cursor) => {
      const taskId = newTask([...TURN, { type: 'task.completed' }]);
      const opened = await subscribe(taskId, { ...RESUMABLE, 'last-event-id': cursor });
      expect(await opened.text()).toContain(cursor === ' ' ? 'INVALID_CURSOR' : 'INVALID_CURSOR');
      expect(server.tasks.following).toBe(0);
    },
  );

  test('R26 a cursor from a longer task is refused for a shorter one', async () => {
    newTask([...TURN, ...TURN]);
    const shorter = newTask([{ type: 'task.working' }]);
    const opened = await subscribe(shorter, { ...RESUMABLE, 'last-event-id': '12' });
    expect(await opened.text()).toContain('INVALID_CURSOR');
  });

  test('without the extension a cursor has no effect, and the server sends no metadata', async () => {
    const taskId = newTask(TURN);
    const opened = await subscribe(taskId, { 'last-event-id': '3' });
    server.tasks.append(taskId, [{ type: 'task.completed' }]);
    const events = await streamOf(opened);
    expect(events[0]?.kind).toBe('task');
    expect(JSON.stringify(events)).not.toContain('urn:mcp-a2a-bridge');
  });

  test('the server ignores an unknown extension, even next to a known one', async () => {
    const taskId = newTask([...TURN, { type: 'task.completed' }]);
    const opened = await subscribe(taskId, {
      'a2a-extensions': `https://example.com/unknown/v1, ${RESUMABLE_STREAM_EXTENSION}`,
      'last-event-id': '7',
    });
    expect(opened.headers.get('a2a-extensions')).toBe(RESUMABLE_STREAM_EXTENSION);
    expect(seqs(await streamOf(opened))).toEqual([8]);
  });

  test('heartbeats are SSE comments while no event occurs, and stop with the stream', async () => {
    const taskId = newTask();
    const opened = await subscribe(taskId);
    const reader = opened.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while ((text.match(/^:\n\n/gm) ?? []).length < 3) text += (await reader?.read())?.value ?? '';
    expect(text.startsWith('data: ')).toBe(true);
    server.tasks.append(taskId, [{ type: 'task.completed' }]);
    for (;;) {
      const next = await reader?.read();
      if (next?.done !== false) break;
      text += next.value;
    }
    expect(text.trimEnd().split('\n').at(-1)).toContain('TASK_STATE_COMPLETED');
  });

  test('the last event of a stream that breaks contains the reason', async () => {
    const taskId = newTask();
    server.tasks.failAfter(taskId, 2);
    const opened = await subscribe(taskId);
    server.tasks.append(taskId, [{ type: 'task.working' }, WAITS]);
    const events = await streamOf(opened);
    expect(events.at(-1)).toMatchObject({ event: 'error' });
    expect(events.at(-1)?.data).toContain('STORAGE');
    expect(server.logged()).toContain('a request failed');
  });

  test('R49 R50 a shutdown ends open streams in order', async () => {
    const opened = await subscribe(newTask());
    server.reading.abort('server-shutdown');
    const events = await streamOf(opened);
    expect(events.map(({ kind }) => kind)).toEqual(['task']);
    expect(server.tasks.following).toBe(0);
  });
});

describe('several readers of one task', () => {
  test('R05 two streams of one task get the same events in the same order; the end of one stream does not end the other', async () => {
    const taskId = newTask();
    const headers = { ...RESUMABLE, 'last-event-id': '0' };
    const short = new AbortController();
    const [one, two, three] = await Promise.all([
      BINDINGS[0]?.subscribe(taskId, headers),
      BINDINGS[1]?.subscribe(taskId, headers),
      openStream(server, { path: `/tasks/${taskId}:subscribe`, headers, signal: short.signal }),
    ]);
    await three.body?.getReader().read();
    short.abort();
    for (const event of [...TURN, { type: 'task.completed' } as const]) server.tasks.append(taskId, [event]);
    const seen = await Promise.all([streamOf(one), streamOf(two)]);
    expect(seqs(seen[0] ?? [])).toEqual([1, 3, 4, 5, 6, 7, 8]);
    expect(seen[0]?.map(({ payload }) => payload)).toEqual(seen[1]?.map(({ payload }) => payload));
  });
});

const rpcRequest = (method: string, id: string, version: string): string =>
  httpRequest('POST', '/', JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { id } }), version);

/** All requests with which a client follows a task. */
const FOLLOWING = [
  { over: 'JSON-RPC 1.0', subscription: (id: string) => rpcRequest('SubscribeToTask', id, '1.0') },
  { over: 'HTTP+JSON 1.0', subscription: (id: string) => httpRequest('GET', `/tasks/${id}:subscribe`) },
  { over: 'the plain route', subscription: (id: string) => httpRequest('GET', `/api/tasks/${id}/events`) },
  { over: 'JSON-RPC 0.3', subscription: (id: string) => rpcRequest('tasks/resubscribe', id, '') },
  {
    over: 'HTTP+JSON 0.3',
    subscription: (id: string) => httpRequest('GET', `/v1/tasks/${id}:subscribe`, '', ''),
  },
];

describe.each(FOLLOWING)('a reader over $over that does not read its stream', ({ subscription: asked }) => {
  test('S3 the reader costs bounded memory, delays no other reader, and is disconnected in the end; it may reconnect', async () => {
    const patient = await startServer({ heartbeatMs: 100 });
    const { taskId } = patient.tasks.begin(TURN.slice(0, 2));
    const deaf = connect(patient.port, '127.0.0.1');
    deaf.write(asked(taskId));
    await patient.tasks.untilFollowed(taskId);
    deaf.pause();
    const many = 2_600;
    patient.tasks.append(
      taskId,
      Array.from({ length: many }, (_, n) => said(`${n} ${'x'.repeat(10_000)}`)),
    );
    patient.tasks.append(taskId, [{ type: 'task.completed' }]);
    const quick = await streamOf(
      await openStream(patient, {
        path: `/tasks/${taskId}:subscribe`,
        headers: { ...RESUMABLE, 'last-event-id': '0' },
      }),
    );
    expect(quick.length).toBe(many + 4);
    // The fast reader must have all events. The blocked reader has at most the 10 MB that the kernel buffers.
    expect(patient.tasks.pulled(taskId) - (many + 5)).toBeLessThan(many / 2);
    // The reader itself never closes, so only the server can close this connection.
    await patient.tasks.untilLeft(taskId);
    deaf.destroy();
  });
});

test('S3 a complete answer that its client does not read is closed in the end, and does not count as answered', async () => {
  const patient = await startServer({ heartbeatMs: 25 });
  const { taskId } = patient.tasks.begin([...TURN.slice(0, 2), said('x'.repeat(24 * 1024 * 1024))]);
  const deaf = connect(patient.port, '127.0.0.1');
  deaf.pause();
  deaf.write(httpRequest('GET', `/tasks/${taskId}`));
  await patient.closedFor('client-gone');
  deaf.destroy();
  await patient.close();
});

/** The four ways in which a connection ends. None of them changes a task (E4). */
const ENDINGS: { ending: string; end: (socket: Socket) => void; readsOn: boolean }[] = [
  { ending: 'keep-alive', end: () => undefined, readsOn: true },
  { ending: 'Connection: close', end: (socket) => socket.destroySoon(), readsOn: false },
  { ending: 'RST', end: (socket) => socket.resetAndDestroy(), readsOn: false },
  { ending: 'half-close', end: (socket) => socket.end(), readsOn: true },
];

describe.each(ENDINGS)('a connection that ends by $ending', ({ ending, end, readsOn }) => {
  test('E4 R24 the end of the connection ends only the stream, and the task continues', async () => {
    const taskId = newTask(TURN);
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    let read = '';
    socket.on('data', (chunk) => (read += String(chunk)));
    socket.write(subscription(taskId));
    await server.tasks.untilFollowed(taskId);
    end(socket);
    if (!readsOn) await server.tasks.untilLeft(taskId);
    server.tasks.append(taskId, [{ type: 'task.completed' }]);
    await server.tasks.untilLeft(taskId);
    if (readsOn)
      while (!read.includes('TASK_STATE_COMPLETED'))
        await new Promise((resolve) => socket.once('data', resolve));
    socket.destroy();
    const task = await rpc(server, 'GetTask', { id: taskId });
    expect(task.body).toMatchObject({ result: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect(server.tasks.cancelled).toEqual([]);
    expect(server.logged()).not.toContain('"level":50');
  });

  test('E4 the end of the connection does not affect a message that waits for its response', async () => {
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: userMessage('hi') });
    const taken = new Promise<string>((resolve) => {
      server.tasks.onSend = (incoming) => {
        const accepted = server.tasks.start(incoming);
        resolve(accepted.taskId);
        return accepted;
      };
    });
    socket.write(httpRequest('POST', '/', body));
    const taskId = await taken;
    await server.tasks.untilFollowed(taskId);
    end(socket);
    // A FIN does not show whether its sender still reads. Without heartbeats, only an RST ends the reading.
    if (ending === 'RST') await server.tasks.untilLeft(taskId);
    server.tasks.append(taskId, [{ type: 'task.completed' }]);
    await server.tasks.untilLeft(taskId);
    socket.destroy();
    expect(await request(server, { method: 'GET', path: `/tasks/${taskId}` })).toMatchObject({
      body: { status: { state: 'TASK_STATE_COMPLETED' } },
    });
  });
});

function httpRequest(method: string, path: string, body = '', version = '1.0'): string {
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\nA2A-Version: ${version}\r\nA2A-Extensions: ${RESUMABLE_STREAM_EXTENSION},${TOOL_APPROVAL_EXTENSION}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

const subscription = (taskId: string): string => httpRequest('GET', `/tasks/${taskId}:subscribe`);

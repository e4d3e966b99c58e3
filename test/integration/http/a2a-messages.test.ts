/** Tests the fields of a message and of a cancel that the server keeps, and the media types that a client accepts. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import { openStream, streamOf } from './event-source.ts';
import { request, rpc, startServer, userMessage } from './test-server.ts';
import type { TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => (server = await startServer()));

const usage = { inputTokens: 1, outputTokens: 1 };
const ARTIFACT = {
  artifactId: 'report',
  name: 'report',
  description: '',
  parts: [
    { type: 'text', text: 'See below.' },
    { type: 'data', data: { rows: 2 } },
    { type: 'file', base64: 'AAAA', name: 'chart.png', mediaType: 'image/png' },
  ],
} as const;
const DONE: TaskEvent[] = [
  { type: 'turn.started', turn: 1, model: 'scripted' },
  { type: 'artifact.updated', turn: 1, artifact: ARTIFACT, append: false, lastChunk: true },
  { type: 'turn.finished', turn: 1, end: 'stop', usage },
  { type: 'task.completed' },
];

describe('a message in the history', () => {
  test('a message in the history keeps its metadata, its extensions and the ids of the tasks that it refers to', async () => {
    const about = {
      metadata: { 'urn:example:ticket': { id: 7 } },
      extensions: ['urn:example:ticket'],
      referenceTaskIds: ['task-7', 'task-8'],
    };
    const sent = userMessage('go', about);
    const configuration = { returnImmediately: true };
    const answer = await rpc(server, 'SendMessage', { ...sent, configuration });
    expect(answer.body).toMatchObject({ result: { task: { history: [{ role: 'ROLE_USER', ...about }] } } });
    const id = 'task-1';
    expect((await rpc(server, 'GetTask', { id })).body).toMatchObject({ result: { history: [about] } });
    const old = await rpc(server, 'tasks/get', { id }, { 'a2a-version': undefined });
    expect(old.body).toMatchObject({ result: { history: [about] } });
  });
});

function send(acceptedOutputModes: string[]) {
  return rpc(server, 'SendMessage', { ...userMessage('go'), configuration: { acceptedOutputModes } });
}

/** Returns the answer of a task whose artifact has these parts. */
function artifact(...parts: object[]) {
  return { result: { task: { artifacts: expect.arrayContaining([expect.objectContaining({ parts })]) } } };
}

describe('the field acceptedOutputModes', () => {
  const words = expect.objectContaining({ text: 'See below.' });

  beforeEach(() => {
    server.tasks.onSend = (incoming) => server.tasks.start(incoming, DONE);
  });

  test.each([[[]], [['*/*']], [['text']], [['text/plain', 'application/json', 'image/*']]])(
    'a client that accepts %j gets every part unchanged',
    async (modes) => {
      const file = expect.objectContaining({ raw: 'AAAA', mediaType: 'image/png' });
      const data = expect.objectContaining({ data: { rows: 2 } });
      expect((await send(modes)).body).toMatchObject(artifact(words, data, file));
    },
  );

  test('a client that accepts text only gets the other parts converted to text', async () => {
    const data = expect.objectContaining({ text: '{"rows":2}' });
    const file = expect.objectContaining({
      text: expect.stringContaining('chart.png (image/png) is omitted'),
    });
    expect((await send(['Text/Plain; charset=utf-8'])).body).toMatchObject(artifact(words, data, file));
    const streamed = await streamOf(
      await openStream(server, {
        path: '/message:stream',
        body: JSON.stringify({ ...userMessage('go'), configuration: { acceptedOutputModes: ['text/*'] } }),
      }),
    );
    expect(JSON.stringify(streamed)).toContain('is omitted: its type is not accepted');
    expect(JSON.stringify(streamed)).not.toContain('AAAA');
  });

  test('if a message’s acceptedOutputModes exclude text, the server refuses the message, and no task starts', async () => {
    const refused = await send(['image/png']);
    expect(refused.body).toMatchObject({ error: { code: -32005 } });
    expect(refused.text).toContain('text/plain');
    expect(server.tasks.received).toEqual([]);
  });

  test.each([{ taskId: 'task-1' }, { contextId: 'session-1' }])(
    'E3 %j: the server accepts a message with any acceptedOutputModes, because the message may be a decision',
    async (to) => {
      const configuration = { acceptedOutputModes: ['image/png'], returnImmediately: true };
      for (const method of ['SendMessage', 'SendStreamingMessage']) {
        const answer = await rpc(server, method, { ...userMessage('approve', to), configuration });
        expect(answer.text).not.toContain('-32005');
      }
      expect(server.tasks.received).toMatchObject([
        { message: { parts: [{ text: 'approve' }] } },
        { message: { parts: [{ text: 'approve' }] } },
      ]);
    },
  );
});

const start = (): string => server.tasks.begin().taskId;

describe('a cancel over A2A', () => {
  test('the task records a cancel with the reason and the surface that the client names, over both bindings', async () => {
    const metadata = { reason: 'enough', channel: 'mcp' };
    const [first, second, third] = [start(), start(), start()];
    await rpc(server, 'CancelTask', { id: first, metadata });
    await request(server, { path: `/tasks/${second}:cancel`, body: JSON.stringify({ metadata }) });
    const bare = await request(server, { path: `/tasks/${third}:cancel` });
    expect(bare.body).toMatchObject({ status: { state: 'TASK_STATE_CANCELED' } });
    expect(server.tasks.cancelled).toEqual([
      { taskId: first, ...metadata },
      { taskId: second, ...metadata },
      { taskId: third, reason: 'no reason was given', channel: 'a2a' },
    ]);
  });
});

/**
 * Images and PDFs in messages and tool results, in the requests to each provider. `files.json` in `test/recordings` has
 * the parts that the provider's documentation demands.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Models } from '../../../a2a-server/models/model.ts';
import type { ClientMessage } from '../../../a2a-server/executor/messages/client-message.ts';
import type { MessagePart } from '../../../a2a-server/task/events.ts';
import { filesOfTask } from '../../../a2a-server/task/task-files.ts';
import { startFakeModelEndpoint, type FakeModelEndpoint } from '../../support/fake-model-endpoint.ts';
import { modelsOf } from '../../support/model-settings.ts';
import { PDF, PNG } from '../../support/sample-files.ts';
import {
  ADA,
  eventsOf,
  messageOf,
  sendUntilSettled,
  startTaskService,
  untilSettled,
  type RunningService,
} from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const PROVIDERS = [
  { model: 'anthropic:claude-sonnet-4-5', folder: 'anthropic', list: 'messages' },
  { model: 'google:gemini-3-flash-preview', folder: 'google', list: 'contents' },
  { model: 'openai:gpt-5-mini', folder: 'openai', list: 'input' },
  { model: 'openai-compatible:vision', folder: 'openai-compatible', list: 'messages' },
  { model: 'openrouter:anthropic/claude-sonnet-4.5', folder: 'openrouter-claude', list: 'messages' },
] as const;

const ENVIRONMENT = {
  ANTHROPIC_API_KEY: 'key',
  GEMINI_API_KEY: 'key',
  OPENAI_API_KEY: 'key',
  OPENROUTER_API_KEY: 'key',
};

let endpoint: FakeModelEndpoint;
let where: { stateDir: string; workspace: string };
beforeEach(async () => {
  endpoint = await startFakeModelEndpoint();
  where = { stateDir: await temporaryDirectory(), workspace: await temporaryDirectory() };
  // The recorded model reads both files. The bytes decide their type, not the name.
  await writeFile(join(where.workspace, 'a.md'), PNG);
  await writeFile(join(where.workspace, 'b.md'), 'two\n');
});
afterEach(() => endpoint.close());

function modelsFor(model: string): Models {
  const url = `${endpoint.url}/v1`;
  const settings = {
    model,
    otherModel: ['openai-compatible:text-only'],
    baseUrls: { anthropic: url, google: url, openai: url, openrouter: url, 'openai-compatible': url },
    inputModes: { 'openai-compatible:vision': ['image/png', 'application/pdf'] },
  };
  return modelsOf(settings, ENVIRONMENT);
}

const startWith = (model: string): Promise<RunningService> =>
  startTaskService({ ...where, models: modelsFor(model) });

async function replay(folder: string, ...names: string[]): Promise<void> {
  for (const name of names) endpoint.script({ type: 'raw', body: await recorded(folder, `${name}.sse`) });
}

function recorded(folder: string, name: string): Promise<string> {
  return readFile(new URL(`../../recordings/${folder}/${name}`, import.meta.url), 'utf8');
}

/** A message with files, as the wire makes it. */
function saysWith(text: string, files: Record<string, Buffer>): ClientMessage {
  const contents = Object.values(files).map((bytes) => ({ hash: hashOf(bytes), bytes }));
  const parts = Object.entries(files).map(([name, bytes]): MessagePart => ({
    type: 'stored-file',
    file: {
      hash: hashOf(bytes),
      bytes: bytes.length,
      mediaType: name.endsWith('.pdf') ? 'application/pdf' : 'image/png',
      name,
    },
  }));
  const message = messageOf(text);
  return {
    ...message,
    message: { ...message.message, parts: [{ type: 'text', text }, ...parts] },
    contents,
  };
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function conversationIn(index: number, list: string): unknown[] {
  const body: unknown = endpoint.received[index]?.body;
  const found: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, list) : undefined;
  if (!Array.isArray(found)) throw new Error(`request ${index} has no ${list}`);
  return found.filter((each: unknown) => !/^\{"role":"(?:system|developer)"/.test(JSON.stringify(each)));
}

/** Without the marks for the prompt cache, which move from turn to turn. */
function json(value: unknown): string {
  return JSON.stringify(value).replaceAll(/,"cache_control":\{"type":"ephemeral"\}/g, '');
}

describe.each(PROVIDERS)('files for $model', ({ model, folder, list }) => {
  it('the model gets the files of a message in its documented format, and the same bytes after a restart', async () => {
    const demanded: { message: unknown } = JSON.parse(await recorded(folder, 'files.json'));
    await replay(folder, 'text', 'text');
    const first = await startWith(model);
    const message = saysWith('What is this?', { 'shot.png': PNG, 'spec.pdf': PDF });
    const task = await sendUntilSettled(first.tasks, message);
    expect(task.status.state).toBe('completed');
    expect(json(conversationIn(0, list))).toBe(json([demanded.message]));
    const second = await first.restart({ models: modelsFor(model) });
    await sendUntilSettled(second.tasks, messageOf('And now?', { sessionId: task.sessionId }));
    expect(json(conversationIn(1, list)[0])).toBe(json(demanded.message));
  });

  it('the model gets the image of a tool result in its documented format, and the same bytes in the next turn', async () => {
    const demanded: { result: unknown[] } = JSON.parse(await recorded(folder, 'files.json'));
    await replay(folder, 'thinking-and-parallel-calls', 'text', 'text');
    const { tasks } = await startWith(model);
    const task = await sendUntilSettled(tasks, messageOf('Compare a.md and b.md'));
    expect(task.status.state).toBe('completed');
    const shown = conversationIn(1, list);
    expect(json(shown.slice(-demanded.result.length))).toBe(json(demanded.result));
    await sendUntilSettled(tasks, messageOf('Sure?', { sessionId: task.sessionId }));
    expect(json(conversationIn(2, list).slice(0, shown.length))).toBe(json(shown));
  });
});

it('a damaged image fails no task: after the provider’s refusal, the next request contains a sentence instead of the image', async () => {
  const { tasks } = await startWith('anthropic:claude-sonnet-4-5');
  const refusal = {
    type: 'status' as const,
    status: 400,
    body: { type: 'error', error: { type: 'invalid_request_error', message: 'Could not process image' } },
  };
  endpoint.script(refusal, { type: 'turn', turn: { text: ['I cannot see it.'] } });
  const task = await sendUntilSettled(tasks, saysWith('Look', { 'shot.png': PNG }));
  expect(task.status.state).toBe('completed');
  const sent = json(conversationIn(1, 'messages'));
  expect(sent).toContain('You do not see the file \\"shot.png\\": the provider refused');
  expect(sent).not.toContain(PNG.toString('base64'));
  // The session goes on.
  endpoint.script(refusal, { type: 'turn', turn: { text: ['ok'] } });
  const next = await sendUntilSettled(tasks, messageOf('Go on', { sessionId: task.sessionId }));
  expect(next.status.state).toBe('completed');
});

it('E3 an image for a running task survives a restart and is in the next request', async () => {
  const first = await startWith('anthropic:claude-sonnet-4-5');
  endpoint.script({ type: 'turn', turn: { text: ['One'] }, cut: { frames: 2, ending: 'silence' } });
  const asked = endpoint.nextRequest();
  const { taskId } = await first.tasks.send(messageOf('Begin'));
  await asked;
  const sent = await first.tasks.send({ ...saysWith('Look', { 'shot.png': PNG }), taskId });
  const second = await first.restart();
  endpoint.script({ type: 'turn', turn: { text: ['A dot.'] } });
  await second.tasks.recover();
  const task = await untilSettled(second.tasks, sent);
  expect(task.status.state).toBe('completed');
  expect(json(conversationIn(1, 'messages'))).toContain(PNG.toString('base64'));
});

it('an image in the reply to a waiting task is in the next request', async () => {
  const { tasks } = await startWith('anthropic:claude-sonnet-4-5');
  // After three empty turns, the task asks what to do.
  endpoint.script(...[1, 2, 3].map(() => ({ type: 'turn' as const, turn: {} })));
  const { taskId } = await sendUntilSettled(tasks, messageOf('Begin'));
  endpoint.script({ type: 'turn', turn: { text: ['A dot.'] } });
  const reply = { ...saysWith('Look at this', { 'shot.png': PNG }), taskId };
  expect((await sendUntilSettled(tasks, reply)).status.state).toBe('completed');
  expect(json(conversationIn(3, 'messages'))).toContain(PNG.toString('base64'));
});

it('the server refuses a message with an image if the model takes no images, and the error names a model that does', async () => {
  const { tasks } = await startWith('openai-compatible:text-only');
  const refused = tasks.send(saysWith('What is this?', { 'shot.png': PNG }));
  await expect(refused).rejects.toMatchObject({
    reason: 'UNSUPPORTED_CONTENT',
    message: expect.stringMatching(/text-only takes no image\/png \(shot\.png\).*No model of this server/),
  });
  expect(endpoint.received).toHaveLength(0);
});

it('a message with an image to a live session is refused in the same way, and the session’s task continues', async () => {
  const service = await startWith('anthropic:claude-sonnet-4-5');
  endpoint.script({ type: 'turn', turn: { text: ['one'] } }, { type: 'turn', turn: { text: ['two'] } });
  const settings = { model: 'openai-compatible:text-only' };
  const task = await sendUntilSettled(service.tasks, messageOf('Hello', { settings }));
  const next = { ...saysWith('And this?', { 'shot.png': PNG }), sessionId: task.sessionId };
  await expect(service.tasks.send(next)).rejects.toMatchObject({
    reason: 'UNSUPPORTED_CONTENT',
    message: expect.stringContaining('a model that takes it: anthropic:claude-sonnet-4-5.'),
  });
  const on = await sendUntilSettled(service.tasks, messageOf('Go on', { sessionId: task.sessionId }));
  expect(on.status.state).toBe('completed');
});

it('if the model takes no images, a sentence replaces the image of a tool result', async () => {
  const { tasks } = await startWith('openai-compatible:text-only');
  await replay('openai-compatible', 'thinking-and-parallel-calls', 'text');
  const task = await sendUntilSettled(tasks, messageOf('Compare a.md and b.md'));
  expect(task.status.state).toBe('completed');
  const sent = json(conversationIn(1, 'messages'));
  expect(sent).toContain(
    'You do not see the file \\"a.md\\": the model openai-compatible:text-only takes no image/png.',
  );
  expect(sent).not.toContain('base64');
});

it('if the session continues with a model that takes no images, a sentence replaces the earlier image', async () => {
  const { tasks } = await startWith('anthropic:claude-sonnet-4-5');
  endpoint.script({ type: 'turn', turn: { text: ['A dot.'] } }, { type: 'turn', turn: { text: ['ok'] } });
  const task = await sendUntilSettled(tasks, saysWith('What is this?', { 'shot.png': PNG }));
  const settings = { model: 'openai-compatible:text-only' };
  const next = await sendUntilSettled(tasks, messageOf('Sure?', { sessionId: task.sessionId, settings }));
  expect(next.status.state).toBe('completed');
  expect(json(conversationIn(1, 'messages')[0])).toContain('You do not see the file \\"shot.png\\"');
});

function call(id: string, name: string, input: object) {
  return { id, name, arguments: JSON.stringify(input) };
}

it('a client can read the files of a task by their hashes, and no other content of the journal', async () => {
  await writeFile(join(where.workspace, 'old.md'), 'old\n');
  const { tasks } = await startWith('anthropic:claude-sonnet-4-5');
  const calls = [
    call('1', 'read-file', { path: 'a.md' }),
    call('2', 'write-file', { path: 'old.md', content: 'new\n' }),
  ];
  endpoint.script({ type: 'turn', turn: { calls } }, { type: 'turn', turn: { text: ['done'] } });
  const settings = { autoExecute: true };
  const task = await sendUntilSettled(tasks, { ...saysWith('Look', { 'spec.pdf': PDF }), settings });
  const { taskId } = task;
  expect(filesOfTask(task)).toMatchObject([
    { name: 'spec.pdf' },
    { name: 'a.md', callId: expect.any(String) },
  ]);
  const image = await tasks.file(taskId, { principal: ADA }, hashOf(PNG));
  expect(image).toEqual({ mediaType: 'image/png', bytes: expect.any(Uint8Array) });
  expect(Buffer.from(image.bytes)).toEqual(PNG);
  await expect(tasks.file(taskId, { principal: ADA }, hashOf(Buffer.from('old\n')))).rejects.toMatchObject({
    reason: 'UNKNOWN_ADDRESS',
  });
  await expect(tasks.file(taskId, { principal: 'eve' }, hashOf(PNG))).rejects.toMatchObject({
    reason: 'UNKNOWN_TASK',
  });
});

it('the journal stores the content of a file once, in a table next to the events', async () => {
  const service = await startWith('anthropic:claude-sonnet-4-5');
  endpoint.script({ type: 'turn', turn: { text: ['A dot.'] } });
  const message = saysWith('What is this?', { 'a.png': PNG, 'b.png': PNG });
  const { taskId } = await sendUntilSettled(service.tasks, message);
  const events = await eventsOf(service, taskId, 'ended');
  expect(JSON.stringify(events)).not.toContain(PNG.toString('base64').slice(0, 40));
  expect(JSON.stringify(conversationIn(0, 'messages')).split(PNG.toString('base64'))).toHaveLength(3);
});

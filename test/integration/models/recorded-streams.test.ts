/**
 * Replays streams of real providers, written after their documentation (`test/recordings`), and checks the next
 * request. A server on loopback replays a stream for each request.
 */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createModels } from '../../../a2a-server/startup/configured-models.ts';
import { modelSettingsSchema, type ProviderName } from '../../../a2a-server/models/model-settings.ts';
import type { Models } from '../../../a2a-server/models/model.ts';
import type { TaskEvent, Usage } from '../../../a2a-server/task/events.ts';
import { startFakeModelEndpoint, type FakeModelEndpoint } from '../../support/fake-model-endpoint.ts';
import {
  untilIdle,
  messageOf,
  untilSettled,
  startTaskService,
  type RunningService,
} from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

interface Provider {
  name: ProviderName;
  model: string;
  /** The folder of its recordings. */
  folder: string;
  env: Record<string, string>;
  /** The usage of its recording `text-with-cached-usage`. */
  cachedUsage: Usage;
  /** The conversation in a request. */
  conversation: (body: unknown) => unknown;
}

const PROVIDERS: Provider[] = [
  {
    name: 'anthropic',
    model: 'anthropic:claude-sonnet-4-5',
    folder: 'anthropic',
    env: { ANTHROPIC_API_KEY: 'key' },
    cachedUsage: { inputTokens: 2257, outputTokens: 41, cachedInputTokens: 2048, cacheWriteTokens: 188 },
    conversation: (body) => fieldOf(body, 'messages'),
  },
  {
    name: 'google',
    model: 'google:gemini-3-flash-preview',
    folder: 'google',
    env: { GEMINI_API_KEY: 'key' },
    cachedUsage: { inputTokens: 4200, outputTokens: 6, cachedInputTokens: 4096 },
    conversation: (body) => fieldOf(body, 'contents'),
  },
  {
    name: 'openai',
    model: 'openai:gpt-5-mini',
    folder: 'openai',
    env: { OPENAI_API_KEY: 'key' },
    cachedUsage: { inputTokens: 2006, outputTokens: 30, cachedInputTokens: 1920 },
    conversation: (body) => withoutSystem(fieldOf(body, 'input')),
  },
  {
    name: 'openai-compatible',
    model: 'openai-compatible:deepseek-reasoner',
    folder: 'openai-compatible',
    env: {},
    cachedUsage: { inputTokens: 420, outputTokens: 6, cachedInputTokens: 320 },
    conversation: (body) => withoutSystem(fieldOf(body, 'messages')),
  },
];

let endpoint: FakeModelEndpoint;
let where: { stateDir: string; workspace: string };
beforeEach(async () => {
  endpoint = await startFakeModelEndpoint();
  where = { stateDir: await temporaryDirectory(), workspace: await temporaryDirectory() };
  await writeFile(join(where.workspace, 'a.md'), 'one\n');
  await writeFile(join(where.workspace, 'b.md'), 'two\n');
});
afterEach(() => endpoint.close());

/** Signatures, ids and texts of reasoning in the recordings. */
const PROVIDER_STATE = /ErUBCkYI|EqQBCgIY|CiQBcsja|gAAAAA|rs_67|reasoning_content|I need/;

const recordings = new URL('../../recordings/', import.meta.url);

async function replay(folder: string, ...names: string[]): Promise<void> {
  for (const name of names)
    endpoint.script({
      type: 'raw',
      body: await readFile(new URL(`${folder}/${name}.sse`, recordings), 'utf8'),
    });
}

/** The conversation that the documentation requires after these streams. */
async function demanded(folder: string, name: string): Promise<string> {
  const text = await readFile(new URL(`${folder}/${name}.json`, recordings), 'utf8');
  return JSON.stringify(JSON.parse(text));
}

function modelsOf(...providers: Provider[]): Models {
  const [first] = providers;
  const settings = modelSettingsSchema.parse({
    model: first?.model,
    others: providers.map(({ model }) => model),
    baseUrls: Object.fromEntries(providers.map(({ name }) => [name, `${endpoint.url}/v1`])),
  });
  const env = Object.assign({}, ...providers.map((provider) => provider.env));
  return createModels(settings, env, { patience: { retries: 0, pauseMs: 0, maxPauseMs: 0 } });
}

function sent(provider: Provider, index: number): string {
  return JSON.stringify(provider.conversation(endpoint.received[index]?.body));
}

async function eventsOf({ tasks }: RunningService, taskId: string): Promise<TaskEvent[]> {
  const events: TaskEvent[] = [];
  for await (const batch of tasks.follow(taskId, 0, { until: 'ended', signal: new AbortController().signal }))
    events.push(...batch.map(({ event }) => event));
  return events;
}

describe.each(PROVIDERS)('$model', (provider) => {
  const { folder } = provider;

  it('gets its reasoning, signatures and call ids back unchanged, and after a restart the same bytes', async () => {
    const service = await startTaskService({ ...where, models: modelsOf(provider) });
    await replay(folder, 'thinking-and-parallel-calls', 'text-with-cached-usage', 'text');
    const accepted = await service.tasks.send(messageOf('Compare a.md and b.md'));
    await untilSettled(service.tasks, accepted);
    expect(withoutMarks(sent(provider, 1))).toBe(await demanded(folder, 'after-calls'));

    await service.stop();
    const next = await startTaskService({ ...where, models: modelsOf(provider) });
    const second = await next.tasks.send({ ...messageOf('Thanks'), sessionId: accepted.sessionId });
    await untilSettled(next.tasks, second);
    expect(withoutMarks(sent(provider, 2))).toBe(await demanded(folder, 'after-answer'));
  });

  it('never shows its reasoning as the answer', async () => {
    const service = await startTaskService({ ...where, models: modelsOf(provider) });
    await replay(folder, 'thinking-and-parallel-calls', 'text');
    const { exchanges } = await untilSettled(service.tasks, await service.tasks.send(messageOf('Compare')));
    const texts = exchanges.flatMap((exchange) => (exchange.type === 'turn' ? [exchange.turn.text] : []));
    expect(texts).toEqual(['I read both.', 'Done.']);
  });

  it('reports cached tokens separately', async () => {
    const service = await startTaskService({ ...where, models: modelsOf(provider) });
    await replay(folder, 'text-with-cached-usage');
    const { taskId } = await service.tasks.send(messageOf('Compare'));
    const finished = (await eventsOf(service, taskId)).find(({ type }) => type === 'turn.finished');
    expect(finished).toMatchObject({ usage: provider.cachedUsage });
  });

  it('fails the task with an explanation when it withholds the answer', async () => {
    const service = await startTaskService({ ...where, models: modelsOf(provider) });
    await replay(folder, 'refusal');
    const { status } = await untilSettled(service.tasks, await service.tasks.send(messageOf('Do harm')));
    expect(status).toMatchObject({ state: 'failed', message: expect.stringContaining('content filter') });
  });

  it('gets back nothing of a turn that was cut at its length limit', async () => {
    const service = await startTaskService({ ...where, models: modelsOf(provider) });
    await replay(folder, 'length', 'text');
    await untilSettled(service.tasks, await service.tasks.send(messageOf('Tell a story')));
    expect(sent(provider, 1)).not.toContain('A long story');
  });

  it('gets a retry after an error in the middle, and the partial answer is void', async () => {
    const service = await startTaskService({ ...where, models: modelsOf(provider) });
    await replay(folder, 'error-in-the-middle', 'text');
    const accepted = await service.tasks.send(messageOf('Begin'));
    const { signal } = new AbortController();
    for await (const batch of service.tasks.follow(accepted.taskId, 0, { until: 'ended', signal }))
      for (const { event } of batch)
        if (event.type === 'model.unavailable') {
          await untilIdle(service.tasks);
          service.clock.advance(event.until - service.clock.now());
        }
    const { status, exchanges } = await untilSettled(service.tasks, accepted);
    expect(status).toEqual({ state: 'completed' });
    expect(JSON.stringify(exchanges)).not.toContain('I begin');
    expect(endpoint.received).toHaveLength(2);
    expect(sent(provider, 1)).toBe(sent(provider, 0));
  });
});

describe('the prompt of a turn', () => {
  it.each(PROVIDERS)(
    'the prompt of a turn of $model starts with the whole prompt of the previous turn',
    async (provider) => {
      const service = await startTaskService({ ...where, models: modelsOf(provider) });
      const { folder } = provider;
      await replay(
        folder,
        'thinking-and-parallel-calls',
        'thinking-and-parallel-calls',
        'text-with-cached-usage',
      );
      const first = await service.tasks.send(messageOf('Compare a.md and b.md'));
      await untilSettled(service.tasks, first);
      await replay(folder, 'thinking-and-parallel-calls', 'text');
      await untilSettled(
        service.tasks,
        await service.tasks.send({ ...messageOf('Again'), sessionId: first.sessionId }),
      );
      const bodies = endpoint.received.map(({ body }): unknown =>
        JSON.parse(withoutMarks(JSON.stringify(body))),
      );
      expect(bodies).toHaveLength(5);
      for (const [index, body] of bodies.entries()) {
        if (index === 0) continue;
        const [earlier, now] = [bodies[index - 1], body];
        expect(withoutConversation(now)).toBe(withoutConversation(earlier));
        const begins = listOf(provider.conversation(earlier));
        expect(JSON.stringify(listOf(provider.conversation(now)).slice(0, begins.length))).toBe(
          JSON.stringify(begins),
        );
      }
    },
  );

  it('the prompt for Anthropic has cache marks at the instructions, at its end and at the end of the previous prompt', async () => {
    const [provider] = PROVIDERS;
    if (provider === undefined) throw new Error('no provider');
    const service = await startTaskService({ ...where, models: modelsOf(provider) });
    await replay('anthropic', 'thinking-and-parallel-calls', 'thinking-and-parallel-calls', 'text');
    await untilSettled(service.tasks, await service.tasks.send(messageOf('Compare a.md and b.md')));
    const marked = endpoint.received.map(({ body }) => ({
      system: marks(fieldOf(body, 'system')),
      messages: listOf(fieldOf(body, 'messages')).flatMap((message, index) =>
        marks(fieldOf(message, 'content')).map((block) => `${index}.${block}`),
      ),
    }));
    expect(marked).toEqual([
      { system: [0], messages: ['0.0'] },
      { system: [0], messages: ['0.0', '2.1'] },
      { system: [0], messages: ['2.1', '4.1'] },
    ]);
  });
});

describe('a conversation that another model continues', () => {
  it.each(PROVIDERS)('contains only text, calls and results for $model', async (provider) => {
    const other = PROVIDERS.find(({ name }) => name !== provider.name) ?? provider;
    const service = await startTaskService({ ...where, models: modelsOf(provider, other) });
    await replay(provider.folder, 'thinking-and-parallel-calls', 'text-with-cached-usage');
    const first = await service.tasks.send(messageOf('Compare a.md and b.md'));
    await untilSettled(service.tasks, first);
    await replay(other.folder, 'text');
    const message = messageOf('Thanks');
    const second = await service.tasks.send({
      ...message,
      sessionId: first.sessionId,
      settings: { ...message.settings, model: other.model },
    });
    await untilSettled(service.tasks, second);
    const body = JSON.stringify(endpoint.received[2]?.body);
    expect(body).toContain('I read both.');
    expect(body).not.toMatch(PROVIDER_STATE);
    const calls = (await eventsOf(service, first.taskId)).filter((event) => event.type === 'tool.requested');
    expect(calls).toHaveLength(2);
    for (const { call } of calls) expect(body).not.toContain(call.modelCallId);
  });

  it.each(PROVIDERS)('is only text, calls and results for $model at another address', async (provider) => {
    const service = await startTaskService({ ...where, models: modelsOf(provider) });
    await replay(provider.folder, 'thinking-and-parallel-calls', 'text-with-cached-usage');
    const first = await service.tasks.send(messageOf('Compare a.md and b.md'));
    await untilSettled(service.tasks, first);
    await service.stop();
    await endpoint.close();
    endpoint = await startFakeModelEndpoint();
    const next = await startTaskService({ ...where, models: modelsOf(provider) });
    await replay(provider.folder, 'text');
    const second = await next.tasks.send({ ...messageOf('Thanks'), sessionId: first.sessionId });
    await untilSettled(next.tasks, second);
    const body = JSON.stringify(endpoint.received[0]?.body);
    expect(body).toContain('I read both.');
    expect(body).not.toMatch(PROVIDER_STATE);
  });
});

it('for a Gemini model behind an endpoint with the OpenAI API keeps the signature of its call', async () => {
  const provider = PROVIDERS.find(({ name }) => name === 'openai-compatible');
  if (provider === undefined) throw new Error('no such provider');
  const service = await startTaskService({ ...where, models: modelsOf(provider) });
  await replay('gemini-by-openai-api', 'signed-calls');
  await replay('openai-compatible', 'text');
  await untilSettled(service.tasks, await service.tasks.send(messageOf('Compare a.md and b.md')));
  expect(sent(provider, 1)).toBe(await demanded('gemini-by-openai-api', 'after-calls'));
});

describe('a provider that refuses the state of earlier turns', () => {
  it.each([
    ['anthropic', 400, 'messages.1.content.0: Invalid `signature` in `thinking` block', 2],
    ['openai-compatible', 400, "property 'reasoning_content' is unsupported", 1],
  ])('gets the conversation without that state: %s', async (name, status, message, refusals) => {
    const provider = PROVIDERS.find((each) => each.name === name);
    if (provider === undefined) throw new Error('no such provider');
    const { folder } = provider;
    const service = await startTaskService({ ...where, models: modelsOf(provider) });
    const refusal = {
      type: 'status',
      status,
      body: { type: 'error', error: { type: 'invalid_request_error', message } },
    } as const;
    await replay(folder, 'thinking-and-parallel-calls');
    endpoint.script(refusal);
    await replay(folder, 'text-with-cached-usage');
    const first = await service.tasks.send(messageOf('Compare a.md and b.md'));
    expect((await untilSettled(service.tasks, first)).status.state).toBe('completed');
    expect(sent(provider, 2)).toContain('I read both.');
    expect(sent(provider, 2)).not.toContain('I need both files');
    // A signature may be refused once, e.g. after a change of the account. An unknown field is refused each time.
    if (refusals === 2) endpoint.script(refusal);
    await replay(folder, 'text');
    await untilSettled(
      service.tasks,
      await service.tasks.send({ ...messageOf('Thanks'), sessionId: first.sessionId }),
    );
    expect(endpoint.received).toHaveLength(3 + refusals);
  });
});

function fieldOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The indexes of the blocks up to which Anthropic caches. */
function marks(blocks: unknown): number[] {
  return listOf(blocks).flatMap((block, index) =>
    fieldOf(block, 'cache_control') === undefined ? [] : [index],
  );
}

/** Cache marks do not count as part of a prompt. */
function withoutMarks(json: string): string {
  return json.replaceAll(',"cache_control":{"type":"ephemeral"}', '');
}

function withoutConversation(body: unknown): string {
  return JSON.stringify(body, (key, value: unknown) =>
    ['messages', 'contents', 'input'].includes(key) && Array.isArray(value) ? undefined : value,
  );
}

function withoutSystem(messages: unknown): unknown {
  return Array.isArray(messages)
    ? messages.filter((message) => !['system', 'developer'].includes(String(fieldOf(message, 'role'))))
    : messages;
}

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Model, ModelEvent, ModelRequest } from '../../../a2a-server/models/model.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import {
  startFakeModelEndpoint,
  wholeTurn,
  type FakeModelEndpoint,
  type Reply,
  type WireName,
} from '../../support/fake-model-endpoint.ts';
import { framesOf, framesUntilComplete } from '../../support/fake-model-wires.ts';
import { modelsOf } from '../../support/model-settings.ts';

const KEY = 'sk-very-secret-0123456789';
interface Provider {
  id: string;
  wire: WireName;
  base: string;
  path: string;
  variable: string;
}

const PROVIDERS: Provider[] = [
  {
    id: 'anthropic:claude-fake',
    wire: 'anthropic',
    base: '/v1',
    path: '/v1/messages',
    variable: 'ANTHROPIC_API_KEY',
  },
  {
    id: 'openai:gpt-fake',
    wire: 'openai',
    base: '/v1',
    path: '/v1/chat/completions',
    variable: 'OPENAI_API_KEY',
  },
  {
    id: 'openai-compatible:llama-fake',
    wire: 'openai',
    base: '/v1',
    path: '/v1/chat/completions',
    variable: 'MCP_A2A_OPENAI_COMPATIBLE_API_KEY',
  },
  {
    id: 'openrouter:maker/model-fake:free',
    wire: 'openai',
    base: '/api/v1',
    path: '/api/v1/chat/completions',
    variable: 'OPENROUTER_API_KEY',
  },
  {
    id: 'ollama:llama-fake:1b',
    wire: 'openai',
    base: '/v1',
    path: '/v1/chat/completions',
    variable: 'OLLAMA_API_KEY',
  },
  {
    id: 'google:gemini-fake',
    wire: 'google',
    base: '/v1beta',
    path: '/v1beta/models/gemini-fake:streamGenerateContent?alt=sse',
    variable: 'GEMINI_API_KEY',
  },
];
/** Servers that differ from Ollama only in their name, key and URL. */
const OTHER_LOCAL_PROVIDERS = [
  ['lmstudio', 'LMSTUDIO_API_KEY'],
  ['llamacpp', 'LLAMACPP_API_KEY'],
  ['vllm', 'VLLM_API_KEY'],
].map(([name = '', variable = '']) => ({
  id: `${name}:llama-fake`,
  wire: 'openai' as const,
  base: '/v1',
  path: '/v1/chat/completions',
  variable,
}));
const IMPATIENT = { retries: 2, pauseMs: 1, maxPauseMs: 1_000 };

let endpoint: FakeModelEndpoint;
beforeEach(async () => {
  endpoint = await startFakeModelEndpoint();
});
afterEach(() => endpoint.close());

function modelOf(provider: Provider): Model {
  const name = provider.id.slice(0, provider.id.indexOf(':'));
  const settings = { model: provider.id, baseUrls: { [name]: endpoint.url + provider.base } };
  return modelsOf(settings, { [provider.variable]: KEY }, IMPATIENT).resolve(undefined);
}

function request(signal: AbortSignal = new AbortController().signal): ModelRequest {
  return {
    instructions: 'You work in a directory.',
    exchanges: [],
    conversation: [
      { role: 'user', text: 'Create test.md with hello' },
      {
        role: 'assistant',
        text: 'I look first.',
        calls: [{ modelCallId: 'call-0', tool: 'read-file', input: { path: 'test.md' } }],
      },
      {
        role: 'tool',
        results: [{ modelCallId: 'call-0', tool: 'read-file', text: 'No such file: test.md', isError: true }],
      },
    ],
    tools: [
      {
        name: 'write-file',
        description: 'Writes a file',
        inputSchema: {
          type: 'object',
          properties: { path: { type: 'string' }, content: { type: 'string' } },
          required: ['path', 'content'],
          additionalProperties: false,
        },
      },
    ],
    signal,
  };
}

async function collect(model: Model, asked = request()): Promise<{ events: ModelEvent[]; error: unknown }> {
  const events: ModelEvent[] = [];
  try {
    for await (const event of model.stream(asked)) events.push(event);
    return { events, error: undefined };
  } catch (error) {
    return { events, error };
  }
}

const WRITE = { id: 'call-1', name: 'write-file', arguments: '{"path":"test.md","content":"hello"}' };
function reading(id: string, path: string): { id: string; name: string; arguments: string } {
  return { id, name: 'read-file', arguments: JSON.stringify({ path }) };
}

const WRITE_INPUT = { path: 'test.md', content: 'hello' };

describe.each(PROVIDERS)('the model provider $id', (provider) => {
  test('the provider’s stream gives the text, a call and the usage of a turn, and the request has the conversation and the key', async () => {
    endpoint.script({ type: 'turn', turn: { text: ['I wri', 'te it.'], calls: [WRITE] } });
    const { events, error } = await collect(modelOf(provider));
    expect(error).toBeUndefined();
    expect(events).toEqual([
      { type: 'text', text: 'I wri' },
      { type: 'text', text: 'te it.' },
      { type: 'call', modelCallId: expect.any(String), tool: 'write-file', input: WRITE_INPUT },
      { type: 'finish', end: 'tool-calls', usage: { inputTokens: 7, outputTokens: 3 } },
    ]);
    const [sent] = endpoint.received;
    expect(sent?.path).toBe(provider.path);
    expect(JSON.stringify(sent?.headers)).toContain(KEY);
    const body = JSON.stringify(sent?.body);
    for (const part of [
      'You work in a directory.',
      'Create test.md with hello',
      'No such file: test.md',
      'Writes a file',
    ])
      expect(body).toContain(part);
  });

  test.each(['stop', 'length', 'content-filter'] as const)(
    'the adapter reports that a turn ended with %s',
    async (finish) => {
      endpoint.script({ type: 'turn', turn: { text: ['Well'], finish } });
      const { events } = await collect(modelOf(provider));
      expect(events.at(-1)).toMatchObject({ type: 'finish', end: finish });
    },
  );

  test('the adapter returns several calls of one turn, in order', async () => {
    endpoint.script({ type: 'turn', turn: { calls: [reading('a', 'a.md'), reading('b', 'b.md'), WRITE] } });
    const { events } = await collect(modelOf(provider));
    expect(events.map((event) => (event.type === 'call' ? event.input : event.type))).toEqual([
      { path: 'a.md' },
      { path: 'b.md' },
      WRITE_INPUT,
      'finish',
    ]);
  });

  test.each([429, 500, 503])('the adapter tries again after a %d, and then succeeds', async (status) => {
    endpoint.script(
      { type: 'status', status, headers: { 'retry-after': '0' } },
      { type: 'turn', turn: { text: ['ok'] } },
    );
    const { events, error } = await collect(modelOf(provider));
    expect(error).toBeUndefined();
    expect(events[0]).toEqual({ type: 'text', text: 'ok' });
    expect(endpoint.received).toHaveLength(2);
  });

  test('the adapter stops after its last retry with a retryable error', async () => {
    endpoint.script(...Array.from({ length: 5 }, () => ({ type: 'status' as const, status: 503 })));
    const { error } = await collect(modelOf(provider));
    expect(error).toMatchObject({ reason: 'AGENT_UNREACHABLE', retryable: true, facts: { status: '503' } });
    expect(endpoint.received).toHaveLength(1 + IMPATIENT.retries);
  });

  test('the adapter does not wait if a provider requests a longer pause than the limit', async () => {
    endpoint.script({ type: 'status', status: 429, headers: { 'retry-after': '3600' } });
    const { error } = await collect(modelOf(provider));
    expect(error).toMatchObject({ reason: 'AGENT_UNREACHABLE' });
    expect(endpoint.received).toHaveLength(1);
  });

  test('the adapter does not repeat a refused request, and reports the reason', async () => {
    const body = {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: `no such model; key ${KEY}`,
        code: 400,
        status: 'INVALID_ARGUMENT',
      },
    };
    endpoint.script({ type: 'status', status: 400, body });
    const { error } = await collect(modelOf(provider));
    expect(error).toMatchObject({ reason: 'AGENT_ERROR', retryable: false });
    expect(String(error)).toContain('no such model');
    expect(endpoint.received).toHaveLength(1);
    expectNoSecret(error);
  });

  test.each(['end', 'reset'] as const)(
    'if the stream %s after any frame, the adapter returns no call, and retries only if it had returned no text',
    async (ending) => {
      const turn = { text: ['one ', 'two'], calls: [WRITE] };
      const frames = framesOf(provider.wire, wholeTurn(turn));
      for (let cut = 0; cut < framesUntilComplete(provider.wire, frames); cut += 1) {
        const before = endpoint.received.length;
        endpoint.script({ type: 'turn', turn, cut: { frames: cut, ending } });
        const model = modelOf(provider);
        const asked = collect(model);
        // The second reply is used only if the turn was requested again.
        endpoint.script({ type: 'turn', turn: { text: ['again'] } });
        const { events, error } = await asked;
        const seen = events.filter((event) => event.type === 'text').map((event) => event.text);
        expect(events.filter((event) => event.type === 'call')).toEqual([]);
        if (seen[0] === 'again') {
          expect(events.at(-1)).toMatchObject({ type: 'finish' });
          expect(endpoint.received.length - before).toBe(2);
        } else {
          expect(seen.join('')).toMatch(/^one (?:two)?$/);
          expect(error).toMatchObject({ reason: 'AGENT_UNREACHABLE', retryable: true });
          expect(endpoint.received.length - before).toBe(1);
          await collect(model);
        }
      }
    },
  );

  test('an abort ends the turn at once and closes the socket to the provider', async () => {
    endpoint.script({ type: 'turn', turn: { text: ['one'] }, cut: { frames: 4, ending: 'silence' } });
    const abort = new AbortController();
    const iterator = modelOf(provider).stream(request(abort.signal))[Symbol.asyncIterator]();
    expect(await iterator.next()).toMatchObject({ value: { type: 'text', text: 'one' } });
    const next = iterator.next();
    abort.abort();
    await expect(next).rejects.toMatchObject({ name: 'AbortError' });
    expect(await endpoint.received[0]?.closedEarly).toBe(true);
  });

  test('an abort before the first byte of the answer also ends the turn at once', async () => {
    endpoint.script({ type: 'turn', turn: {}, cut: { frames: 0, ending: 'silence' } });
    const abort = new AbortController();
    const arrived = endpoint.nextRequest();
    const asked = collect(modelOf(provider), request(abort.signal));
    const sent = await arrived;
    abort.abort();
    expect((await asked).error).toMatchObject({ name: 'AbortError' });
    expect(await sent.closedEarly).toBe(true);
  });

  test('if the reader stops reading, the adapter closes the socket to the provider', async () => {
    endpoint.script({ type: 'turn', turn: { text: ['one'] }, cut: { frames: 4, ending: 'silence' } });
    for await (const event of modelOf(provider).stream(request())) {
      expect(event).toEqual({ type: 'text', text: 'one' });
      break;
    }
    expect(await endpoint.received[0]?.closedEarly).toBe(true);
  });

  test('an unreachable endpoint is a retryable error with a reason', async () => {
    await endpoint.close();
    const { error } = await collect(modelOf(provider));
    expect(error).toMatchObject({
      reason: 'AGENT_UNREACHABLE',
      message: expect.stringContaining(provider.id),
    });
    endpoint = await startFakeModelEndpoint();
  });
});

describe.each([...PROVIDERS, ...OTHER_LOCAL_PROVIDERS])('the base URL and the key of $id', (provider) => {
  test.each([401, 403])(
    'the error for a refused key (%i) names the key’s variable, and never contains the key',
    async (status) => {
      const refusal = {
        type: 'authentication_error',
        message: `Incorrect API key provided: ${KEY}`,
        code: status,
        status: 'X',
      };
      endpoint.script({ type: 'status', status, body: { type: 'error', error: refusal } });
      const { error } = await collect(modelOf(provider));
      expect(error).toMatchObject({
        reason: 'AGENT_ERROR',
        message: expect.stringContaining(provider.variable),
      });
      expectNoSecret(error);
    },
  );

  test.each(['', '/', provider.base, `${provider.base}/`])(
    'the adapter works with a base URL that has the path %j',
    async (base) => {
      endpoint.script({ type: 'turn', turn: { text: ['ok'] } });
      const { events } = await collect(modelOf({ ...provider, base }));
      expect(events[0]).toEqual({ type: 'text', text: 'ok' });
      expect(endpoint.received.map(({ path }) => path)).toEqual([provider.path]);
    },
  );
});

test('a base URL of OpenRouter with the path of its API, but without the version, gets the version', async () => {
  const provider = PROVIDERS.find(({ id }) => id.startsWith('openrouter'));
  if (provider === undefined) throw new Error('no provider');
  endpoint.script({ type: 'turn', turn: { text: ['ok'] } });
  await collect(modelOf({ ...provider, base: '/api' }));
  expect(endpoint.received[0]?.path).toBe(provider.path);
});

describe('a base URL without a version', () => {
  test('if the URL with `/v1` returns 404, the request is repeated without `/v1`, and the next request uses that URL at once', async () => {
    const provider = PROVIDERS.find(({ id }) => id.startsWith('openai-compatible'));
    if (provider === undefined) throw new Error('no provider');
    const ok: Reply = { type: 'turn', turn: { text: ['ok'] } };
    endpoint.script({ type: 'status', status: 404 }, ok, ok);
    const model = modelOf({ ...provider, base: '/inference' });
    await collect(model);
    expect((await collect(model)).events[0]).toEqual({ type: 'text', text: 'ok' });
    expect(endpoint.received.map(({ path }) => path)).toEqual([
      '/inference/v1/chat/completions',
      '/inference/chat/completions',
      '/inference/chat/completions',
    ]);
  });

  test('the error for a missing model names the model, not the path', async () => {
    const provider = PROVIDERS.find(({ id }) => id.startsWith('openai-compatible'));
    if (provider === undefined) throw new Error('no provider');
    endpoint.script(
      { type: 'status', status: 404, body: { error: { message: 'model "llama-fake" not found' } } },
      { type: 'status', status: 404, body: { error: { message: 'no such page' } } },
    );
    const { error } = await collect(modelOf({ ...provider, base: '' }));
    expect(String(error)).toContain('model "llama-fake" not found');
  });
});

test('the adapter retries an Anthropic stream that reports overload before any text', async () => {
  const [provider] = PROVIDERS;
  if (provider === undefined) throw new Error('no provider');
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  endpoint.script(
    { type: 'raw', body: `event: error\ndata: ${JSON.stringify(overloaded)}\n\n` },
    { type: 'turn', turn: { text: ['ok'] } },
  );
  const { events } = await collect(modelOf(provider));
  expect(events[0]).toEqual({ type: 'text', text: 'ok' });
});

test('a call whose arguments are not JSON reaches the task as the model wrote it', async () => {
  const provider = PROVIDERS.find(({ wire }) => wire === 'openai');
  if (provider === undefined) throw new Error('no provider');
  endpoint.script({ type: 'turn', turn: { calls: [{ ...WRITE, arguments: '{"path": test.md' }] } });
  const { events } = await collect(modelOf(provider));
  expect(events[0]).toMatchObject({ type: 'call', input: '{"path": test.md' });
});

function expectNoSecret(error: unknown): void {
  if (!(error instanceof ProductError)) throw new Error('not one of our errors', { cause: error });
  const { message, stack, facts, cause } = error;
  expect(JSON.stringify({ message, stack, facts, cause: String(cause) })).not.toContain(KEY);
}

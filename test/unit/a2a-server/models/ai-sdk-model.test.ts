import { getEventListeners } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { APICallError, TypeValidationError, type LanguageModelV3StreamPart } from '@ai-sdk/provider';
import {
  createAiSdkModel,
  type AiSdkModelSource,
  type StreamingModel,
} from '../../../../a2a-server/models/ai-sdk-model.ts';
import type { Model, ModelEvent, ModelRequest } from '../../../../a2a-server/models/model.ts';
import type { ReplayedPart } from '../../../../a2a-server/task/replay-provider-data.ts';

type Stream = ReadableStream<LanguageModelV3StreamPart>;
const NO_PAUSE = { retries: 3, pauseMs: 0, maxPauseMs: 0 };
const USAGE = {
  inputTokens: { total: 5, noCache: 5, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};
const FINISH: LanguageModelV3StreamPart = {
  type: 'finish',
  usage: USAGE,
  finishReason: { unified: 'stop', raw: 'stop' },
};

/** A model whose `doStream` returns these results in order. */
function modelOf(...answers: (() => Promise<Stream> | Stream)[]): Model {
  return createAiSdkModel(sourceOf(...answers));
}

function sourceOf(...answers: (() => Promise<Stream> | Stream)[]): AiSdkModelSource {
  const provider: StreamingModel = {
    doStream: async () => {
      const answer = answers.shift();
      if (answer === undefined) throw new Error('asked once too often');
      return { stream: await answer() };
    },
  };
  return { id: 'scripted', load: () => Promise.resolve(provider), retryPolicy: NO_PAUSE };
}

function streamOf(...parts: LanguageModelV3StreamPart[]): Stream {
  return ReadableStream.from(parts);
}

function nothing(): void {}

/** Creates a promise that the test resolves. */
function gate<Value>(): { promise: Promise<Value>; open: (value: Value) => void } {
  let open: (value: Value) => void = nothing;
  const promise = new Promise<Value>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

/** Creates a stream that sends these parts and then never ends. `cancelled` resolves when the reader cancels. */
function silentAfter(...parts: LanguageModelV3StreamPart[]): { stream: Stream; cancelled: Promise<unknown> } {
  const { promise, open } = gate<unknown>();
  const stream = new ReadableStream<LanguageModelV3StreamPart>({
    start: (controller) => parts.forEach((part) => controller.enqueue(part)),
    cancel: open,
  });
  return { stream, cancelled: promise };
}

function iteratorOf(model: Model, asked: ModelRequest): AsyncIterator<ModelEvent> {
  return model.stream(asked)[Symbol.asyncIterator]();
}

function text(delta: string): LanguageModelV3StreamPart {
  return { type: 'text-delta', id: '1', delta };
}

function call(input: string): LanguageModelV3StreamPart {
  return { type: 'tool-call', toolCallId: 'c1', toolName: 'wait', input };
}

function request(signal = new AbortController().signal): ModelRequest {
  return {
    instructions: '',
    conversation: [{ role: 'user', text: 'hi' }],
    exchanges: [],
    tools: [],
    signal,
  };
}

async function collect(model: Model, asked = request()): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(asked)) events.push(event);
  return events;
}

function overloaded(): Promise<Stream> {
  return Promise.reject(
    new APICallError({ message: 'busy', url: 'http://x', requestBodyValues: {}, statusCode: 529 }),
  );
}

describe('the events of a model’s turn', () => {
  test('text and reasoning arrive at once, and calls at the end of the turn', async () => {
    const events = await collect(
      modelOf(() =>
        streamOf(
          { type: 'stream-start', warnings: [] },
          { type: 'reasoning-start', id: 'r' },
          { type: 'reasoning-delta', id: 'r', delta: 'hmm' },
          call('{"seconds":1}'),
          text(''),
          text('a'),
          text('b'),
          FINISH,
        ),
      ),
    );
    expect(events).toEqual([
      { type: 'reasoning', text: 'hmm' },
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
      { type: 'call', modelCallId: 'c1', tool: 'wait', input: { seconds: 1 } },
      // Some servers send `stop` although the turn has a call. Then the call must count.
      {
        type: 'finish',
        end: 'tool-calls',
        usage: { inputTokens: 5, outputTokens: 0 },
        parts: [{ type: 'reasoning', length: 3 }, { type: 'call' }, { type: 'text', length: 2 }],
      },
    ]);
  });

  test.each([
    ['nothing', []],
    ['spaces', [text(' '), text('\n')]],
    ['thoughts', [{ type: 'reasoning-delta', id: 'r', delta: 'hmm' } as const]],
  ])('an answer of %s counts as empty', async (_, parts) => {
    const events = await collect(modelOf(() => streamOf(...parts, FINISH)));
    expect(events.at(-1)).toMatchObject({ type: 'finish', end: 'empty' });
  });

  test.each<[string, LanguageModelV3StreamPart]>([
    ['words', text('and so on ')],
    ['thoughts', { type: 'reasoning-delta', id: 'r', delta: 'and so on ' }],
    ['a call', { type: 'tool-input-delta', id: 'c1', delta: 'and so on ' }],
  ])('an endless answer of %s is stopped at the size of the context window', async (_, part) => {
    let given = 0;
    let cancelled = false;
    const endless = (): Stream =>
      new ReadableStream<LanguageModelV3StreamPart>({
        pull(controller) {
          given += 1;
          controller.enqueue(part);
        },
        cancel: () => void (cancelled = true),
      });
    const events = await collect(
      createAiSdkModel({
        ...sourceOf(endless),
        contextWindow: 1_000,
      }),
    );
    expect(events.at(-1)).toMatchObject({ type: 'finish', end: 'length' });
    expect(events.filter((event) => event.type === 'call')).toEqual([]);
    expect(given).toBeLessThan(1_000);
    expect(cancelled).toBe(true);
  });

  test('cached input tokens are counted separately', async () => {
    const cached = { ...FINISH, usage: { ...USAGE, inputTokens: { ...USAGE.inputTokens, cacheRead: 4 } } };
    const events = await collect(modelOf(() => streamOf(text('a'), cached)));
    expect(events.at(-1)).toMatchObject({
      usage: { inputTokens: 5, outputTokens: 0, cachedInputTokens: 4 },
    });
  });

  test.each([
    ['{"a":', '{"a":'],
    ['', {}],
    ['[1]', [1]],
  ])('a call with the input %j reaches the task with the input %j', async (written, input) => {
    const events = await collect(modelOf(() => streamOf(call(written), FINISH)));
    expect(events[0]).toMatchObject({ type: 'call', input });
  });

  test.each([
    ['length', '{"a":1}', ['{"a":', '{"a":1}']],
    ['length', '{"a":', ['{"a":']],
    ['length', '', ['{"a":']],
    ['length', '{}', ['{"a":']],
    ['content-filter', '{"a":', ['{"a":']],
    ['stop', '{"a":', ['{"a":', '{"a":']],
    ['tool-calls', '{}', ['{"a":', '{}']],
  ] as const)(
    'an answer that ended with %s and whose last call has the input %j gives the inputs %j',
    async (unified, written, inputs) => {
      const finish = { ...FINISH, finishReason: { unified, raw: unified } };
      const events = await collect(modelOf(() => streamOf(call('{"a":'), call(written), finish)));
      const given = events.flatMap((event) => (event.type === 'call' ? [event.input] : []));
      expect(given.map((input) => (typeof input === 'string' ? input : JSON.stringify(input)))).toEqual(
        inputs,
      );
    },
  );

  test.each([
    ['MALFORMED_FUNCTION_CALL', 'error' as const],
    ['UNEXPECTED_TOOL_CALL', 'other' as const],
    ['MALFORMED_RESPONSE', 'other' as const],
  ])(
    'an answer that Google cannot parse (%s) counts as empty, and none of its calls runs',
    async (raw, unified) => {
      const finish = { ...FINISH, finishReason: { unified, raw } };
      const events = await collect(modelOf(() => streamOf(text('I call'), call('{"a":1}'), finish)));
      expect(events).toMatchObject([
        { type: 'text', text: 'I call' },
        { type: 'finish', end: 'empty', usage: { inputTokens: 5 } },
      ]);
    },
  );

  test.each(['functions.wait', 'wait<|channel|>commentary', 'functions.wait<|constrain|>json'])(
    'a call of %s is a call of the tool itself',
    async (toolName) => {
      const part: LanguageModelV3StreamPart = { type: 'tool-call', toolCallId: 'c1', toolName, input: '{}' };
      const events = await collect(modelOf(() => streamOf(part, FINISH)));
      expect(events[0]).toEqual({ type: 'call', modelCallId: 'c1', tool: 'wait', input: {} });
    },
  );

  test('a call without a name keeps the text that the model wrote, so that the answer to it has a name', async () => {
    const toolName = '<|constrain|>json';
    const part: LanguageModelV3StreamPart = { type: 'tool-call', toolCallId: 'c1', toolName, input: '{}' };
    const events = await collect(modelOf(() => streamOf(part, FINISH)));
    expect(events[0]).toMatchObject({ tool: toolName });
  });

  test('an event of a new type is ignored, and an invalid event of a known type or an error is not', async () => {
    expect((await answerWith(refused({ type: 'usage_hint' })))[0]).toEqual({ type: 'text', text: 'ok' });
    for (const value of [{ type: 'message_stop', x: 1 }, { type: 'InternalError', message: 'no' }, 'text'])
      await expect(answerWith(refused(value))).rejects.toMatchObject({ reason: 'AGENT_ERROR' });
  });

  test('a content block of a new type is ignored with its text, and an invalid block of a known type is not', async () => {
    const inBlock: LanguageModelV3StreamPart = { type: 'text-delta', id: '7', delta: 'not for people' };
    expect(await answerWith(blockStart('commentary'), inBlock, blockDelta('commentary_delta'))).toMatchObject(
      [
        { type: 'text', text: 'ok' },
        { type: 'finish', end: 'stop' },
      ],
    );
    for (const part of [blockStart('tool_use'), blockDelta('input_json_delta')])
      await expect(answerWith(part)).rejects.toMatchObject({ reason: 'AGENT_ERROR' });
  });

  test('a call that the provider executes itself gives no call event', async () => {
    const own: LanguageModelV3StreamPart = { ...callPart(), providerExecuted: true };
    const events = await collect(modelOf(() => streamOf(own, FINISH)));
    expect(events).toEqual([expect.objectContaining({ type: 'finish', end: 'empty' })]);
  });
});

/** A part of Anthropic's stream that does not fit the schema of the AI SDK. */
function refused(value: unknown): LanguageModelV3StreamPart {
  return { type: 'error', error: new TypeValidationError({ value, cause: new Error('no match') }) };
}

const blockStart = (type: string): LanguageModelV3StreamPart =>
  refused({ type: 'content_block_start', index: 7, content_block: { type } });
const blockDelta = (type: string): LanguageModelV3StreamPart =>
  refused({ type: 'content_block_delta', index: 7, delta: { type } });

/** The events of an answer that begins with these parts. */
function answerWith(...parts: LanguageModelV3StreamPart[]): Promise<ModelEvent[]> {
  return collect(modelOf(() => streamOf(...parts, text('ok'), FINISH)));
}

function callPart(): Extract<LanguageModelV3StreamPart, { type: 'tool-call' }> {
  return { type: 'tool-call', toolCallId: 'c1', toolName: 'wait', input: '{}' };
}

describe('the retry of a model request', () => {
  test('a retry happens only before the first event (a call counts as an event)', async () => {
    const events = await collect(
      modelOf(
        overloaded,
        () => streamOf(call('{}')),
        () => streamOf({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }),
        () => streamOf(text('ok'), FINISH),
      ),
    );
    expect(events.map((event) => event.type)).toEqual(['text', 'finish']);
  });

  test('a retry never happens after the first text', async () => {
    const model = modelOf(
      () => streamOf(text('half')),
      () => streamOf(text('again'), FINISH),
    );
    const events: ModelEvent[] = [];
    const reading = (async () => {
      for await (const event of model.stream(request())) events.push(event);
    })();
    await expect(reading).rejects.toMatchObject({ reason: 'AGENT_UNREACHABLE', retryable: true });
    expect(events).toEqual([{ type: 'text', text: 'half' }]);
  });

  test('after the last retry, the last failure is thrown', async () => {
    const model = modelOf(overloaded, overloaded, overloaded, overloaded, () => streamOf(FINISH));
    await expect(collect(model)).rejects.toMatchObject({
      reason: 'AGENT_UNREACHABLE',
      facts: { status: '529' },
    });
  });

  test('a turn that the provider ends with an error is not retried', async () => {
    const malformed: LanguageModelV3StreamPart = {
      ...FINISH,
      finishReason: { unified: 'error', raw: 'MISSING_THOUGHT_SIGNATURE' },
    };
    await expect(collect(modelOf(() => streamOf(malformed)))).rejects.toMatchObject({
      reason: 'AGENT_ERROR',
      message: expect.stringContaining('MISSING_THOUGHT_SIGNATURE'),
    });
  });
});

const DEMANDS_REASONING = 'thinking is enabled but reasoning_content is missing in assistant message';
const REFUSES_REASONING = "property 'reasoning_content' is unsupported";

function badRequest(message: string): APICallError {
  return new APICallError({ message, url: 'http://x', requestBodyValues: {}, statusCode: 400 });
}

function requestAfterTurn(part: ReplayedPart): ModelRequest {
  return { ...request(), conversation: [{ role: 'assistant', text: 'hello', calls: [], parts: [part] }] };
}

describe('a provider with a rule about the reasoning of earlier turns', () => {
  test.each([
    ['demands', true, DEMANDS_REASONING],
    ['refuses', false, REFUSES_REASONING],
  ])(
    'if the provider %s the reasoning, two requests at the same time are both corrected',
    async (_, demanded, message) => {
      const refusals = [gate<unknown>(), gate<unknown>()] as const;
      const first = [...refusals];
      const { load, ...source } = sourceOf();
      const model = createAiSdkModel({
        ...source,
        load: async () => ({
          ...(await load()),
          doStream: async ({ prompt }) => {
            await first.shift()?.promise;
            if (JSON.stringify(prompt).includes('"type":"reasoning"') !== demanded) throw badRequest(message);
            return { stream: streamOf(text('ok'), FINISH) };
          },
        }),
      });
      const asked = requestAfterTurn({ type: demanded ? 'text' : 'reasoning', text: 'hello' });
      const [one, other] = [collect(model, asked), collect(model, asked)];
      refusals[0].open(undefined);
      expect((await one)[0]).toEqual({ type: 'text', text: 'ok' });
      refusals[1].open(undefined);
      expect((await other)[0]).toEqual({ type: 'text', text: 'ok' });
    },
  );

  test('a provider that has refused the reasoning may demand it later', async () => {
    const model = modelOf(
      () => Promise.reject(badRequest(REFUSES_REASONING)),
      () => streamOf(text('ok'), FINISH),
      () => Promise.reject(badRequest(DEMANDS_REASONING)),
      () => streamOf(text('ok'), FINISH),
    );
    const asked = requestAfterTurn({ type: 'reasoning', text: 'hello' });
    for (let turn = 0; turn < 2; turn += 1)
      expect((await collect(model, asked))[0]).toEqual({ type: 'text', text: 'ok' });
  });
});

describe('A4 the abort of a model request', () => {
  test('an abort before the first step sends no request', async () => {
    const model = modelOf();
    await expect(collect(model, request(AbortSignal.abort()))).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('an abort ends a turn whose provider never answers, and drops a late answer', async () => {
    const late = silentAfter();
    const reached = gate<void>();
    const answer = gate<Stream>();
    const model = modelOf(() => {
      reached.open();
      return answer.promise;
    });
    const abort = new AbortController();
    const turn = collect(model, request(abort.signal));
    await reached.promise;
    abort.abort();
    await expect(turn).rejects.toMatchObject({ name: 'AbortError' });
    answer.open(late.stream);
    await late.cancelled;
  });

  test('an abort ends a turn whose provider ignores the abort, and leaves no listener on the signal', async () => {
    const silent = silentAfter(text('one'));
    const abort = new AbortController();
    const iterator = iteratorOf(
      modelOf(() => silent.stream),
      request(abort.signal),
    );
    await iterator.next();
    const next = iterator.next();
    abort.abort();
    await expect(next).rejects.toMatchObject({ name: 'AbortError' });
    await silent.cancelled;
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
  });

  test('an abort ends the delay between two attempts', async () => {
    const abort = new AbortController();
    const model = createAiSdkModel({
      id: 'busy',
      load: () => Promise.reject(abortOnce(abort)),
      retryPolicy: { retries: 3, pauseMs: 3_600_000, maxPauseMs: 3_600_000 },
    });
    await expect(collect(model, request(abort.signal))).rejects.toMatchObject({ name: 'AbortError' });
  });
});

/** Aborts, and returns a failure that would allow a retry. */
function abortOnce(abort: AbortController): APICallError {
  setImmediate(() => abort.abort());
  return new APICallError({ message: 'busy', url: 'http://x', requestBodyValues: {}, statusCode: 529 });
}

describe('a reader that stops reading a turn', () => {
  test('the reader’s stop cancels the stream, also during a read', async () => {
    const silent = silentAfter(text('one'));
    const iterator = iteratorOf(
      modelOf(() => silent.stream),
      request(),
    );
    await iterator.next();
    const waiting = iterator.next();
    const ended = iterator.return?.();
    await silent.cancelled;
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    expect(await ended).toMatchObject({ done: true });
  });

  test('the reader’s stop leaves no listener on a long-lived signal', async () => {
    const { signal } = new AbortController();
    for (let turn = 0; turn < 20; turn += 1)
      await collect(
        modelOf(() => streamOf(text('a'), FINISH)),
        request(signal),
      );
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

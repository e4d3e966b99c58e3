/** Replays recorded streams of model providers, and checks the task and the next request. */
import { describe, expect, it } from '@jest/globals';
import {
  demanded,
  fieldOf,
  listOf,
  providerOf,
  PROVIDERS,
  RecordedStage,
} from '../../support/recorded-provider.ts';
import { eventsOf, messageOf, sendUntilSettled, settledAfterOutages } from '../../support/task-service.ts';

/** Servers of local models have no content filter, and send a refusal as text. */
const FILTERING_PROVIDERS = PROVIDERS.filter(
  ({ name }) => !['ollama', 'lmstudio', 'llamacpp', 'vllm'].includes(name),
);

const on = new RecordedStage();

describe.each(PROVIDERS)('a recorded stream of $model', (provider) => {
  const { folder } = provider;

  it('the model gets its reasoning, signatures and call ids back unchanged, and after a restart the same bytes', async () => {
    const service = await on.start(provider);
    await on.replay(folder, 'thinking-and-parallel-calls', 'text-with-cached-usage', 'text');
    const { sessionId } = await sendUntilSettled(service.tasks, messageOf('Compare a.md and b.md'));
    expect(withoutMarks(on.sent(provider, 1))).toBe(await demanded(folder, 'after-calls'));

    const next = await service.restart({ models: on.models(provider) });
    await sendUntilSettled(next.tasks, messageOf('Thanks', { sessionId }));
    expect(withoutMarks(on.sent(provider, 2))).toBe(await demanded(folder, 'after-answer'));
  });

  it('the task never shows the model’s reasoning as the answer', async () => {
    const service = await on.start(provider);
    await on.replay(folder, 'thinking-and-parallel-calls', 'text');
    const { exchanges } = await sendUntilSettled(service.tasks, messageOf('Compare'));
    const texts = exchanges.flatMap((exchange) => (exchange.type === 'turn' ? [exchange.turn.text] : []));
    expect(texts).toEqual(['I read both.', 'Done.']);
  });

  it('the usage has cached tokens as a separate number', async () => {
    const service = await on.start(provider);
    await on.replay(folder, 'text-with-cached-usage');
    const { taskId } = await service.tasks.send(messageOf('Compare'));
    const finished = (await eventsOf(service, taskId, 'ended')).find(({ type }) => type === 'turn.finished');
    expect(finished).toMatchObject({ usage: provider.cachedUsage });
  });

  it('the model gets back the text of an answer that stopped at its length limit, without the provider’s state', async () => {
    const service = await on.start(provider);
    await on.replay(folder, 'length', 'text');
    await sendUntilSettled(service.tasks, messageOf('Tell a story'));
    expect(withoutMarks(on.sent(provider, 1))).toBe(await demanded(folder, 'after-length'));
  });

  it('after an error in the middle of an answer, the server retries and discards the partial answer', async () => {
    const service = await on.start(provider);
    await on.replay(folder, 'error-in-the-middle', 'text');
    const accepted = await service.tasks.send(messageOf('Begin'));
    const { status, exchanges } = await settledAfterOutages(service, accepted);
    expect(status).toEqual({ state: 'completed' });
    expect(JSON.stringify(exchanges)).not.toContain('I begin');
    expect(on.endpoint.received).toHaveLength(2);
    expect(on.sent(provider, 1)).toBe(on.sent(provider, 0));
  });
});

describe.each(FILTERING_PROVIDERS)('a withheld answer of $model', (provider) => {
  const { folder } = provider;

  it('the task fails if the provider withholds the answer, and the session continues without the withheld content', async () => {
    const service = await on.start(provider);
    await on.replay(folder, 'refusal', 'text');
    const { status, sessionId } = await sendUntilSettled(service.tasks, messageOf('Do harm'));
    expect(status).toMatchObject({ state: 'failed', message: expect.stringContaining('content filter') });
    const second = messageOf('Then do good', { sessionId });
    expect((await sendUntilSettled(service.tasks, second)).status).toEqual({ state: 'completed' });
    expect(withoutMarks(on.sent(provider, 1))).toBe(await demanded(folder, 'after-refusal'));
  });
});

describe('the prompt of a turn', () => {
  it.each(PROVIDERS)(
    'the prompt of a turn of $model starts with the bytes of the previous prompt, with its instructions and tools',
    async (provider) => {
      const service = await on.start(provider);
      const { folder } = provider;
      await on.replay(
        folder,
        'thinking-and-parallel-calls',
        'thinking-and-parallel-calls',
        'text-with-cached-usage',
      );
      const { sessionId } = await sendUntilSettled(service.tasks, messageOf('Compare a.md and b.md'));
      await on.replay(folder, 'thinking-and-parallel-calls', 'text');
      await sendUntilSettled(service.tasks, messageOf('Again', { sessionId }));
      const prompts = on.endpoint.received.map(({ text }) => promptOf(withoutMarks(text)));
      expect(prompts).toHaveLength(5);
      for (const [index, prompt] of prompts.entries()) {
        const earlier = prompts[index - 1] ?? prompt;
        expect(prompt.conversation.startsWith(earlier.conversation)).toBe(true);
        expect([prompt.before, prompt.after]).toEqual([earlier.before, earlier.after]);
      }
      for (const part of ['A person has delegated a task to you.', '"read-file"'])
        expect(on.endpoint.received[0]?.text).toContain(part);
    },
  );

  it('a prompt for Anthropic has cache marks at the instructions, at its end and at the end of the previous prompt', async () => {
    const service = await on.start(providerOf('anthropic'));
    await on.replay('anthropic', 'thinking-and-parallel-calls', 'thinking-and-parallel-calls', 'text');
    await sendUntilSettled(service.tasks, messageOf('Compare a.md and b.md'));
    const marked = on.endpoint.received.map(({ body }) => ({
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

it('a prompt for a Claude at OpenRouter asks for caching; prompts for other models do not', async () => {
  for (const provider of PROVIDERS.filter(({ name }) => name === 'openrouter')) {
    const service = await on.start(provider);
    await on.replay(provider.folder, 'thinking-and-parallel-calls', 'text');
    await sendUntilSettled(service.tasks, messageOf('Compare a.md and b.md'));
    await service.stop();
  }
  const ephemeral = { type: 'ephemeral' };
  expect(on.endpoint.received.map(({ body }) => fieldOf(body, 'cache_control'))).toEqual([
    ephemeral,
    ephemeral,
    undefined,
    undefined,
  ]);
  // A mark in a message as well would be a second mark.
  for (const { body } of on.endpoint.received)
    expect(JSON.stringify(fieldOf(body, 'messages'))).not.toContain('cache_control');
});

it('an answer that DeepSeek interrupts because it lacks capacity is void, and is requested again', async () => {
  const provider = providerOf('openai-compatible');
  const service = await on.start(provider);
  await on.replay('openai-compatible', 'interrupted', 'text');
  const accepted = await service.tasks.send(messageOf('Begin'));
  const { status, exchanges } = await settledAfterOutages(service, accepted);
  expect(status).toEqual({ state: 'completed' });
  expect(JSON.stringify(exchanges)).not.toContain('I begin');
  expect(on.endpoint.received).toHaveLength(2);
});

it('the usage includes the reasoning that xAI and Google count only in `total_tokens`', async () => {
  const provider = providerOf('openai-compatible');
  const service = await on.start(provider);
  // After https://docs.x.ai/docs/guides/reasoning
  const usage = {
    prompt_tokens: 32,
    completion_tokens: 9,
    total_tokens: 135,
    prompt_tokens_details: { cached_tokens: 6 },
    completion_tokens_details: { reasoning_tokens: 94 },
  };
  const chunks = [
    { choices: [{ index: 0, delta: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }] },
    { choices: [], usage },
  ];
  const body = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
  on.endpoint.script({ type: 'raw', body });
  const { taskId } = await service.tasks.send(messageOf('Compare'));
  const finished = (await eventsOf(service, taskId, 'ended')).find(({ type }) => type === 'turn.finished');
  expect(finished).toMatchObject({ usage: { inputTokens: 32, outputTokens: 103, cachedInputTokens: 6 } });
});

it('reasoning that LM Studio sends as text is not part of the answer, and the model gets it back as reasoning', async () => {
  const provider = providerOf('lmstudio');
  const service = await on.start(provider);
  await on.replay('lmstudio', 'thinking-in-text', 'text');
  const { exchanges } = await sendUntilSettled(service.tasks, messageOf('Compare'));
  const turns = exchanges.flatMap((exchange) => (exchange.type === 'turn' ? [exchange.turn] : []));
  expect(turns.map(({ text }) => text)).toEqual(['I read both.', 'Done.']);
  expect(on.endpoint.received[1]?.text).toContain('"reasoning_content":"\\nI need both files.\\n"');
});

it('if Gemini writes a tool call that cannot be parsed, the model is asked again a limited number of times, and then the person', async () => {
  const provider = providerOf('openrouter-gemini');
  const service = await on.start(provider);
  await on.replay('openrouter-gemini', 'malformed-call', 'malformed-call', 'malformed-call');
  const { status } = await sendUntilSettled(service.tasks, messageOf('Compare'));
  expect(status).toMatchObject({
    state: 'input-required',
    question: expect.stringContaining('has given an empty answer, 3 turns in a row'),
  });
  expect(JSON.stringify(on.endpoint.received[1]?.body)).toContain('Your last answer was empty.');
});

it('the answer of a model that searches by itself ends with the sources that its text does not name', async () => {
  const provider = providerOf('openrouter-claude');
  const search = { ...provider, model: 'openrouter:perplexity/sonar' };
  const service = await on.start(search);
  await on.replay('openrouter-search', 'cited-text');
  const { exchanges } = await sendUntilSettled(service.tasks, messageOf('Which is older?'));
  expect(exchanges.at(-1)).toMatchObject({
    turn: {
      text: 'A is older than B [1][2], see https://example.org/b?x=1.\n\nSources:\n\n1. Page A official: https://example.com/a\n',
    },
  });
});

it.each([
  ['anthropic', '1. Page A: https://example.com/a\n2. Page B: https://example.org/b?x=1'],
  ['google', '1. Page A: https://example.com/a\n2. Page B: https://example.org/b?x=1'],
  ['openai', '1. Page A official: https://example.com/a'],
])(
  'an answer of %s with citations shows its sources, and the model gets its own text and citations back',
  async (folder, sources) => {
    const provider = providerOf(folder);
    const service = await on.start(provider);
    await on.replay(folder, 'cited-text', 'text');
    const { exchanges, sessionId } = await sendUntilSettled(service.tasks, messageOf('Which is older?'));
    const last = exchanges.at(-1);
    const text = last?.type === 'turn' ? last.turn.text : '';
    expect(text.slice(text.indexOf('\n'))).toBe(`\n\nSources:\n\n${sources}\n`);
    await sendUntilSettled(service.tasks, messageOf('Thanks', { sessionId }));
    expect(withoutMarks(on.sent(provider, 1))).toBe(await demanded(folder, 'after-cited-text'));
  },
);

it('OpenAI gets the request to encrypt the reasoning, and to store nothing', async () => {
  const provider = providerOf('openai');
  const service = await on.start(provider);
  await on.replay('openai', 'thinking-and-parallel-calls', 'text');
  await sendUntilSettled(service.tasks, messageOf('Compare a.md and b.md'));
  expect(on.endpoint.received).toHaveLength(2);
  for (const { body } of on.endpoint.received)
    expect(body).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
});

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

/** Splits the bytes of a request: the conversation up to its last step, and the fields before and after it. */
function promptOf(body: string): { before: string; conversation: string; after: string } {
  const parsed: unknown = JSON.parse(body);
  const list = ['messages', 'contents', 'input'].map((name) => fieldOf(parsed, name)).find(Array.isArray);
  const bytes = JSON.stringify(list);
  const start = body.indexOf(bytes);
  // A body with other white space would not contain these bytes.
  expect(start).toBeGreaterThan(0);
  const end = start + bytes.length - ']'.length;
  return { before: body.slice(0, start), conversation: body.slice(start, end), after: body.slice(end) };
}

/** Tests what a model gets of the turns of another model, and what it gets after its provider refused the hidden state. */
import { describe, expect, it } from '@jest/globals';
import {
  demanded,
  fieldOf,
  listOf,
  providerOf,
  PROVIDER_STATE,
  PROVIDERS,
  RecordedStage,
} from '../../support/recorded-provider.ts';
import { eventsOf, messageOf, sendUntilSettled, untilSettled } from '../../support/task-service.ts';

const on = new RecordedStage();

describe('a conversation that another model continues', () => {
  it.each(PROVIDERS)('the request to $model contains only text, calls and results', async (provider) => {
    const other = PROVIDERS.find(({ name }) => name !== provider.name) ?? provider;
    const service = await on.start(provider, other);
    await on.replay(provider.folder, 'thinking-and-parallel-calls', 'text-with-cached-usage');
    const first = await sendUntilSettled(service.tasks, messageOf('Compare a.md and b.md'));
    await on.replay(other.folder, 'text');
    const settings = { model: other.model };
    await sendUntilSettled(service.tasks, messageOf('Thanks', { sessionId: first.sessionId, settings }));
    const body = JSON.stringify(on.endpoint.received[2]?.body);
    expect(body).toContain('I read both.');
    expect(body).not.toMatch(PROVIDER_STATE);
    const calls = (await eventsOf(service, first.taskId, 'ended')).filter(
      (event) => event.type === 'tool.requested',
    );
    expect(calls).toHaveLength(2);
    for (const { call } of calls) expect(body).not.toContain(call.modelCallId);
  });

  it.each(PROVIDERS)(
    'the request to $model at another address contains only text, calls and results',
    async (provider) => {
      const service = await on.start(provider);
      await on.replay(provider.folder, 'thinking-and-parallel-calls', 'text-with-cached-usage');
      const first = await sendUntilSettled(service.tasks, messageOf('Compare a.md and b.md'));
      await on.moveEndpoint();
      const next = await service.restart({ models: on.models(provider) });
      await on.replay(provider.folder, 'text');
      await sendUntilSettled(next.tasks, messageOf('Thanks', { sessionId: first.sessionId }));
      const body = JSON.stringify(on.endpoint.received[0]?.body);
      expect(body).toContain('I read both.');
      expect(body).not.toMatch(PROVIDER_STATE);
    },
  );
});

it('the request to a Gemini model behind an OpenAI-compatible endpoint keeps the signature of its call', async () => {
  const provider = providerOf('openai-compatible');
  const service = await on.start(provider);
  await on.replay('gemini-by-openai-api', 'signed-calls');
  await on.replay('openai-compatible', 'text');
  await sendUntilSettled(service.tasks, messageOf('Compare a.md and b.md'));
  expect(on.sent(provider, 1)).toBe(await demanded('gemini-by-openai-api', 'after-calls'));
});

/** Google's rule: the first call of each step needs a signature. This value stands for a signature that does not exist. */
const SKIPPED = 'skip_thought_signature_validator';

describe('a Gemini model that continues the work of another model', () => {
  it.each<[string, string, (call: string) => unknown]>([
    [
      'google:gemini-3-flash-preview',
      'google',
      () => ({
        role: 'model',
        parts: [
          { text: 'I read both.' },
          { functionCall: expect.anything(), thoughtSignature: SKIPPED },
          { functionCall: expect.anything(), thoughtSignature: SKIPPED },
        ],
      }),
    ],
    [
      'openai-compatible:gemini-3-flash-preview',
      'openai-compatible',
      () => ({
        role: 'assistant',
        content: 'I read both.',
        tool_calls: [
          expect.objectContaining({ extra_content: { google: { thought_signature: SKIPPED } } }),
          expect.not.objectContaining({ extra_content: expect.anything() }),
        ],
      }),
    ],
    [
      'openrouter:google/gemini-3-flash-preview',
      'openrouter-gemini',
      (call) => ({
        role: 'assistant',
        content: 'I read both.',
        tool_calls: [expect.not.objectContaining({ extra_content: expect.anything() }), expect.anything()],
        reasoning_details: [
          { type: 'reasoning.encrypted', data: SKIPPED, id: call, format: 'google-gemini-v1', index: 0 },
        ],
      }),
    ],
  ])(
    'the request to %s has the calls with the signature that skips Google’s check',
    async (model, folder, expected) => {
      const [claude, gemini] = [providerOf('anthropic'), providerOf(folder)];
      const other = { ...gemini, model };
      const service = await on.start(claude, other);
      await on.replay(claude.folder, 'thinking-and-parallel-calls', 'text-with-cached-usage');
      const first = await sendUntilSettled(service.tasks, messageOf('Compare a.md and b.md'));
      await on.replay(gemini.folder, 'text');
      const more = { sessionId: first.sessionId, settings: { model } };
      await sendUntilSettled(service.tasks, messageOf('Thanks', more));
      const events = await eventsOf(service, first.taskId, 'ended');
      const call = events.find((event) => event.type === 'tool.requested')?.call.callId ?? '';
      expect(listOf(other.conversation(on.endpoint.received[2]?.body))[1]).toEqual(expected(call));
    },
  );
});

describe('a provider that refuses the hidden state of earlier turns', () => {
  it.each([
    ['anthropic', 400, 'messages.1.content.0: Invalid `signature` in `thinking` block', 2],
    ['openai-compatible', 400, "property 'reasoning_content' is unsupported", 1],
  ])(
    'the provider gets the conversation again without that state: %s',
    async (folder, status, message, refusals) => {
      const provider = providerOf(folder);
      const service = await on.start(provider);
      const refusal = {
        type: 'status',
        status,
        body: { type: 'error', error: { type: 'invalid_request_error', message } },
      } as const;
      await on.replay(folder, 'thinking-and-parallel-calls');
      on.endpoint.script(refusal);
      await on.replay(folder, 'text-with-cached-usage');
      const first = await service.tasks.send(messageOf('Compare a.md and b.md'));
      expect((await untilSettled(service.tasks, first)).status.state).toBe('completed');
      expect(on.sent(provider, 2)).toContain('I read both.');
      expect(on.sent(provider, 2)).not.toContain('I need both files');
      // A signature may be refused once, e.g. after a change of the account. An unknown field is refused each time.
      if (refusals === 2) on.endpoint.script(refusal);
      await on.replay(folder, 'text');
      await sendUntilSettled(service.tasks, messageOf('Thanks', { sessionId: first.sessionId }));
      expect(on.endpoint.received).toHaveLength(3 + refusals);
    },
  );
});

describe('a provider that demands the reasoning of each turn with calls', () => {
  it.each([
    'Missing `reasoning_content` field in the assistant message at message index 2. For more information, please refer to the documentation.',
    'The `reasoning_content` in the thinking mode must be passed back to the API.',
    'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
  ])(
    'the provider gets a text for reasoning that does not exist, and demands it once only: %s',
    async (message) => {
      const provider = providerOf('openai-compatible');
      const other = providerOf('ollama');
      const service = await on.start(other, provider);
      await on.replay(other.folder, 'thinking-and-parallel-calls', 'text');
      const first = await sendUntilSettled(service.tasks, messageOf('Compare a.md and b.md'));

      const statuses: number[] = [];
      on.endpoint.otherwise(({ body }) => {
        const complete = listOf(fieldOf(body, 'messages')).every(
          (step) => fieldOf(step, 'tool_calls') === undefined || Boolean(fieldOf(step, 'reasoning_content')),
        );
        statuses.push(complete ? 200 : 400);
        return complete
          ? { type: 'turn', turn: { text: ['ok'] } }
          : { type: 'status', status: 400, body: { error: { message, type: 'invalid_request_error' } } };
      });
      for (const text of ['Thanks', 'Once more']) {
        const more = { sessionId: first.sessionId, settings: { model: provider.model } };
        const { status } = await sendUntilSettled(service.tasks, messageOf(text, more));
        expect(status).toEqual({ state: 'completed' });
      }
      expect(statuses).toEqual([400, 200, 200]);
    },
  );
});

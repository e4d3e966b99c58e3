import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { MODEL_TABLE_SETTINGS } from '../../../a2a-server/models/model-settings.ts';
import type { ConversationStep, Models } from '../../../a2a-server/models/model.ts';
import { startFakeModelEndpoint, type FakeModelEndpoint } from '../../support/fake-model-endpoint.ts';
import { modelsOf } from '../../support/model-settings.ts';

const KEYS = {
  ANTHROPIC_API_KEY: 'key',
  OPENAI_API_KEY: 'key',
  GEMINI_API_KEY: 'key',
  OPENROUTER_API_KEY: 'key',
};

let endpoint: FakeModelEndpoint;
beforeEach(async () => {
  endpoint = await startFakeModelEndpoint();
});
afterEach(() => endpoint.close());

function models(model: string, modelParameters: Record<string, object>): Models {
  const baseUrls = { [model.slice(0, model.indexOf(':'))]: endpoint.url };
  return modelsOf({ model, modelParameters, baseUrls }, KEYS);
}

interface Sent {
  name?: string;
  conversation?: ConversationStep[];
}

async function sentBy(
  model: string,
  parameters: Record<string, object>,
  { name, conversation = [{ role: 'user', text: 'hi' }] }: Sent = {},
): Promise<unknown> {
  endpoint.script({ type: 'status', status: 400 });
  const { signal } = new AbortController();
  const request = {
    instructions: '',
    conversation,
    exchanges: [],
    tools: [],
    signal,
  };
  const read = async (): Promise<void> => {
    for await (const _ of models(model, parameters).resolve(name).stream(request));
  };
  await read().catch(() => undefined);
  return endpoint.received.at(-1)?.body;
}

async function thinkingOf(model: string, conversation: ConversationStep[]): Promise<unknown> {
  const body = await sentBy(model, { [model]: { effort: 'low' } }, { conversation });
  return z.looseObject({ thinking: z.unknown().optional() }).parse(body).thinking;
}

describe('model parameters in the request', () => {
  it.each([
    [
      'anthropic:claude-haiku-4-5',
      { temperature: 0.2, maxOutputTokens: 900 },
      { temperature: 0.2, max_tokens: 900 },
    ],
    [
      'anthropic:claude-opus-4-6',
      { effort: 'high' },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    ],
    [
      'anthropic:claude-sonnet-4-5',
      { effort: 'low' },
      { thinking: { type: 'enabled', budget_tokens: 2_048 } },
    ],
    [
      'google:gemini-3-flash-preview',
      { effort: 'low', maxOutputTokens: 900 },
      { generationConfig: { maxOutputTokens: 900, thinkingConfig: { thinkingLevel: 'low' } } },
    ],
    [
      'google:gemini-2.5-flash',
      { effort: 'low' },
      { generationConfig: { thinkingConfig: { thinkingBudget: 2_048 } } },
    ],
    [
      'openai:gpt-5-mini',
      { effort: 'high', maxOutputTokens: 900 },
      { reasoning: { effort: 'high' }, max_output_tokens: 900, store: false },
    ],
    ['openai:gpt-4.1', { temperature: 1.5 }, { temperature: 1.5 }],
    ['openrouter:x-ai/grok-4', { effort: 'low' }, { reasoning: { effort: 'low' } }],
    [
      'openrouter:anthropic/claude-sonnet-4.5',
      { effort: 'high' },
      { reasoning: { effort: 'high' }, cache_control: { type: 'ephemeral' } },
    ],
    ['vllm:qwen3', { effort: 'medium', temperature: 0 }, { reasoning_effort: 'medium', temperature: 0 }],
  ])('the request to %s has the parameters %j', async (model, parameters, expected) => {
    expect(await sentBy(model, { [model]: parameters })).toMatchObject(expected);
  });

  it('the parameters of a tier add to those of its model, and apply only to that tier', async () => {
    const parameters = { 'vllm:qwen3': { temperature: 0.2 }, smart: { effort: 'high' } };
    expect(await sentBy('vllm:qwen3', parameters, { name: 'smart' })).toMatchObject({
      temperature: 0.2,
      reasoning_effort: 'high',
    });
    expect(await sentBy('vllm:qwen3', parameters)).not.toHaveProperty('reasoning_effort');
  });
});

describe('the effort setting of a Claude that cannot reason in the middle of a turn without its earlier reasoning', () => {
  const turn = {
    role: 'assistant' as const,
    text: '',
    calls: [{ modelCallId: 'c1', tool: 'wait', input: {} }],
  };
  const call = { type: 'call' as const, modelCallId: 'c1', tool: 'wait', input: {} };
  const reasoning = { type: 'reasoning' as const, text: 'hm', state: { anthropic: { signature: 's' } } };
  const results = [{ modelCallId: 'c1', tool: 'wait', text: 'done', isError: false }];
  const after = (last: ConversationStep): ConversationStep[] => [
    { role: 'user', text: 'hi' },
    last,
    { role: 'tool', results },
  ];

  it.each([
    ['as text and calls alone', turn],
    ['without reasoning in it', { ...turn, parts: [call] }],
  ])('the request has no effort setting for a turn %s', async (_, last) => {
    expect(await thinkingOf('anthropic:claude-sonnet-4-5', after(last))).toBeUndefined();
    expect(await thinkingOf('anthropic:claude-opus-4-6', after(last))).toMatchObject({ type: 'adaptive' });
  });

  it('the request has no effort setting for a Claude 4.5 from OpenRouter either, and has one for a Claude 4.6', async () => {
    const old = 'openrouter:anthropic/claude-sonnet-4.5';
    const young = 'openrouter:anthropic/claude-opus-4.6';
    const last = { conversation: after(turn) };
    expect(await sentBy(old, { [old]: { effort: 'low' } }, last)).not.toHaveProperty('reasoning');
    expect(await sentBy(young, { [young]: { effort: 'low' } }, last)).toHaveProperty('reasoning.effort');
  });

  it('the request has the effort setting if the turn’s reasoning is in it, or if the turn is over', async () => {
    const enabled = { type: 'enabled' };
    const whole = { ...turn, parts: [reasoning, call] };
    expect(await thinkingOf('anthropic:claude-sonnet-4-5', after(whole))).toMatchObject(enabled);
    const over: ConversationStep[] = [
      ...after(turn),
      { role: 'assistant', text: 'done', calls: [] },
      { role: 'user', text: 'and now?' },
    ];
    expect(await thinkingOf('anthropic:claude-sonnet-4-5', over)).toMatchObject(enabled);
  });
});

describe('parameters that a model does not accept', () => {
  it.each([
    ['openai:gpt-5-mini', { temperature: 1 }, 'takes no "temperature"'],
    ['openai:gpt-4.1', { effort: 'high' }, 'takes no "effort"'],
    ['anthropic:claude-haiku-4-5', { temperature: 1.5 }, 'its maximum "temperature" is 1'],
    ['anthropic:claude-haiku-4-5', { temperature: 1, effort: 'low' }, 'together with "effort"'],
    ['google:gemini-2.0-flash', { effort: 'low' }, 'takes no "effort"'],
    ['anthropic:claude-3-haiku', { effort: 'low' }, 'it does not reason, and takes no "effort"'],
    [
      'anthropic:claude-3-haiku-20240307',
      { maxOutputTokens: 4_097 },
      'its maximum "maxOutputTokens" is 4096',
    ],
    ['anthropic:claude-opus-4-7', { temperature: 0.5 }, 'takes no "temperature"'],
    ['openai:gpt-4o', { maxOutputTokens: 100_000 }, 'its maximum "maxOutputTokens" is 16384'],
    ['openai:gpt-5-pro', { effort: 'low' }, 'it takes only these values of "effort": high'],
    ['google:gemini-3-pro-preview', { effort: 'medium' }, 'these values of "effort": low, high'],
    ['google:gemini-2.5-pro', { maxOutputTokens: 65_537 }, 'its maximum "maxOutputTokens" is 65536'],
    [
      'anthropic:claude-opus-4-1',
      { maxOutputTokens: 10_000, effort: 'high' },
      'with the reasoning budget of 24576 tokens for "effort", its maximum "maxOutputTokens" is 7424',
    ],
    ['openrouter:openai/gpt-5-mini', { temperature: 1 }, 'takes no "temperature"'],
    ['openrouter:openai/gpt-4.1', { effort: 'high' }, 'it does not reason, and takes no "effort"'],
    [
      'openrouter:anthropic/claude-haiku-4.5',
      { maxOutputTokens: 64_001 },
      'its maximum "maxOutputTokens" is 64000',
    ],
    ['vllm:qwen3', { maxOutputTokens: 128_000 }, 'below its context window of 128000 tokens'],
  ])('the settings refuse such parameters at the start: %s with %j', (model, parameters, sentence) => {
    expect(() => models(model, { [model]: parameters }).resolve(undefined)).toThrow(
      expect.objectContaining({ reason: 'CONFIGURATION', message: expect.stringContaining(sentence) }),
    );
  });

  it.each([
    ['anthropic:claude-3-haiku', { maxOutputTokens: 4_096, temperature: 1 }],
    ['anthropic:claude-opus-4-1', { maxOutputTokens: 7_424, effort: 'high' }],
    ['openai:gpt-5-pro', { maxOutputTokens: 100_000, effort: 'high' }],
    // At OpenRouter, the reasoning budget is a part of the limit.
    ['openrouter:anthropic/claude-haiku-4.5', { maxOutputTokens: 64_000, effort: 'high' }],
    // The known models do not have these. Only the provider knows what they take.
    ['openai:gpt-5-chat-latest', { temperature: 1, effort: 'low' }],
    ['anthropic:claude-of-tomorrow', { maxOutputTokens: 100_000, effort: 'high' }],
    ['google:gemini-of-tomorrow', { maxOutputTokens: 100_000, effort: 'low' }],
  ])(
    'the settings accept parameters within the limits, and any parameters of an unknown model: %s with %j',
    (model, parameters) => {
      expect(() => models(model, { [model]: parameters }).resolve(undefined)).not.toThrow();
    },
  );

  it('the error for the parameters of a tier contains the limits of its model', () => {
    const settings = {
      smartModel: 'openai:gpt-4o',
      modelParameters: { smart: { maxOutputTokens: 20_000 } },
    };
    expect(() => modelsOf(settings, KEYS).resolve('smart')).toThrow(
      expect.objectContaining({
        message:
          'Setting "modelParameters" of the tier smart does not fit openai:gpt-4o: its maximum "maxOutputTokens" is 16384. Change it in the configuration file.',
      }),
    );
  });

  it.each([
    ['a number out of range', { smart: { temperature: 3 } }, ['smart', 'temperature']],
    ['an unknown word', { smart: { effort: 'most' } }, ['smart', 'effort']],
    ['an unknown tier', { huge: {} }, ['huge']],
    ['an unknown parameter', { smart: { topP: 1 } }, ['smart']],
  ])('no model accepts %s: the settings refuse %j', (_, parameters, path) => {
    const { error } = MODEL_TABLE_SETTINGS.modelParameters.schema.safeParse(parameters);
    expect(error?.issues).toMatchObject([{ path }]);
  });
});

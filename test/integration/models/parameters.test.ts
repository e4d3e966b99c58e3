import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { modelSettingsSchema } from '../../../a2a-server/models/model-settings.ts';
import type { ConversationStep, Models } from '../../../a2a-server/models/model.ts';
import { createModels } from '../../../a2a-server/startup/configured-models.ts';
import { startFakeModelEndpoint, type FakeModelEndpoint } from '../../support/fake-model-endpoint.ts';

const KEYS = { ANTHROPIC_API_KEY: 'key', OPENAI_API_KEY: 'key', GEMINI_API_KEY: 'key' };

let endpoint: FakeModelEndpoint;
beforeEach(async () => {
  endpoint = await startFakeModelEndpoint();
});
afterEach(() => endpoint.close());

function models(model: string, parameters: Record<string, object>): Models {
  const settings = modelSettingsSchema.parse({
    model,
    parameters,
    baseUrls: { [model.slice(0, model.indexOf(':'))]: endpoint.url },
  });
  return createModels(settings, KEYS, { patience: { retries: 0, pauseMs: 0, maxPauseMs: 0 } });
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

describe('parameters in the request', () => {
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

describe('the effort of a Claude that refuses to reason in the middle of a turn without its reasoning', () => {
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
  ])('the effort is left out for a turn %s', async (_, last) => {
    expect(await thinkingOf('anthropic:claude-sonnet-4-5', after(last))).toBeUndefined();
    expect(await thinkingOf('anthropic:claude-opus-4-6', after(last))).toMatchObject({ type: 'adaptive' });
  });

  it('the effort is sent with the reasoning of the turn, and once the turn is over', async () => {
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
    ['vllm:qwen3', { maxOutputTokens: 128_000 }, 'below its context window of 128000 tokens'],
  ])(
    'parameters that a model does not accept are refused at the start: %s with %j',
    (model, parameters, sentence) => {
      expect(() => models(model, { [model]: parameters }).resolve(undefined)).toThrow(
        expect.objectContaining({ reason: 'CONFIGURATION', message: expect.stringContaining(sentence) }),
      );
    },
  );

  it.each([
    ['a number out of range', { smart: { temperature: 3 } }, ['smart', 'temperature']],
    ['an unknown word', { smart: { effort: 'most' } }, ['smart', 'effort']],
    ['an unknown tier', { huge: {} }, ['huge']],
    ['an unknown parameter', { smart: { topP: 1 } }, ['smart']],
  ])('no model accepts %s: the settings refuse %j', (_, parameters, path) => {
    const { error } = modelSettingsSchema.safeParse({ parameters });
    expect(error?.issues).toMatchObject([{ path: ['parameters', ...path] }]);
  });
});

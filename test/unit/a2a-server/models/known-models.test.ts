import { describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { findKnownModel, knownModelListName } from '../../../../a2a-server/models/known-models.ts';
import { providerNameSchema } from '../../../../a2a-server/models/model-settings.ts';
import { modelSettings } from '../../../support/model-settings.ts';

const FILE = new URL('../../../../a2a-server/models/known-models.json', import.meta.url);

/** A provider without a prefix of its own is reached as `openai-compatible`. */
function idPrefix(list: string): string {
  return providerNameSchema.safeParse(list).success ? list : 'openai-compatible';
}

const parameterLimits = z.strictObject({
  maxOutputTokens: z.int().min(256).optional(),
  efforts: z.array(z.enum(['low', 'medium', 'high'])).optional(),
  temperature: z.literal(false).optional(),
});

describe('the list of known models', () => {
  test('each list has a source and a date, and each line has one model with facts that the settings accept', async () => {
    const text = await readFile(FILE, 'utf8');
    const lists = z
      .record(
        z.string(),
        z.strictObject({
          source: z
            .string()
            .regex(/^@pydantic\/genai-prices .* https:.*; parameters: https:.*, commit \S+ of \d{4}-/),
          date: z.iso.date(),
          models: z.record(z.string(), z.record(z.string(), z.unknown())),
        }),
      )
      .parse(JSON.parse(text));
    for (const [provider, { models }] of Object.entries(lists))
      for (const [model, { price, contextWindow, inputModes, ...limits }] of Object.entries(models)) {
        const id = `${idPrefix(provider)}:${model}`;
        modelSettings({
          ...(price !== undefined && { prices: { [id]: price } }),
          ...(contextWindow !== undefined && { contextWindow: { [id]: contextWindow } }),
          ...(inputModes !== undefined && { inputModes: { [id]: inputModes } }),
        });
        expect(parameterLimits.safeParse(limits).error).toBeUndefined();
        expect(text).toContain(`\n      ${JSON.stringify(model)}: {`);
      }
  });

  test('a model is found with and without a version date, and never by another name', () => {
    const found = findKnownModel('anthropic', 'claude-sonnet-4-5');
    expect(found?.contextWindow).toBe(200_000);
    expect(found?.inputModes).toContain('application/pdf');
    expect(findKnownModel('openai', 'gpt-3.5-turbo')?.inputModes).toBeUndefined();
    expect(findKnownModel('anthropic', 'claude-sonnet-4-5-20250929')).toBe(found);
    expect(findKnownModel('openai', 'gpt-5-mini-2025-08-07')).toBe(findKnownModel('openai', 'gpt-5-mini'));
    for (const name of ['toString', 'claude', 'claude-sonnet-4-5-fast'])
      expect(findKnownModel('anthropic', name)).toBeUndefined();
    expect(findKnownModel('constructor', 'name')).toBeUndefined();
  });

  test('OpenRouter’s models have their own window, price and files, and another route has no price', () => {
    const found = findKnownModel('openrouter', 'anthropic/claude-sonnet-4.5');
    expect(found).toMatchObject({
      contextWindow: 1_000_000,
      price: { input: 3, output: 15, longPrompt: { above: 200_000, input: 6 } },
      efforts: ['low', 'medium', 'high'],
    });
    expect(found?.inputModes).toContain('application/pdf');
    expect(findKnownModel('openrouter', 'z-ai/glm-4.6')).toMatchObject({ contextWindow: 202_752 });
    expect(findKnownModel('openrouter', 'openai/gpt-5-mini')).toMatchObject({ temperature: false });
    expect(findKnownModel('openrouter', 'qwen/qwen3-coder:free')?.price).toEqual({ input: 0, output: 0 });
    const { price, ...facts } = found ?? {};
    expect(price).toBeDefined();
    expect(findKnownModel('openrouter', 'anthropic/claude-sonnet-4.5:nitro')).toEqual(facts);
    expect(findKnownModel('anthropic', 'claude-sonnet-4-5:nitro')).toBeUndefined();
    expect(findKnownModel('openrouter', 'anthropic/claude')).toBeUndefined();
  });

  test.each([
    ['https://api.deepseek.com', 'deepseek', 'deepseek-v4-pro'],
    ['https://api.x.ai/v1', 'xai', 'grok-4'],
    ['https://api.mistral.ai/v1', 'mistral', 'mistral-large-latest'],
    ['https://api.groq.com/openai/v1', 'groq', 'llama-3.3-70b-versatile'],
    ['https://openrouter.ai/api/v1', 'openrouter', 'moonshotai/kimi-k2.5'],
  ])('the endpoint %s has the list %s, with %s', (url, list, model) => {
    expect(knownModelListName(url)).toBe(list);
    expect(findKnownModel(list, model)?.contextWindow).toBeGreaterThan(60_000);
  });

  test.each(['', 'https://api.deepseek.com.example.com/v1', 'http://127.0.0.1:8000/v1', 'constructor'])(
    'the endpoint %j has no list',
    (url) => {
      expect(knownModelListName(url)).toBeUndefined();
    },
  );
});

import { describe, expect, test } from '@jest/globals';
import type { Model } from '../../../../a2a-server/models/model.ts';
import { modelSettings, modelsOf } from '../../../support/model-settings.ts';

const KEYS = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o', GEMINI_API_KEY: 'g' };

function modelWith(settings: Record<string, unknown>, env = {}): Model {
  return modelsOf(settings, { OPENROUTER_API_KEY: 'key', ...env }).resolve(undefined);
}

describe('the model of a task', () => {
  test('without settings the task uses the offline model, even with keys in the environment', () => {
    const models = modelsOf({}, KEYS);
    for (const name of [undefined, 'offline', 'fast', 'smart'])
      expect(models.resolve(name).id).toBe('offline');
    expect(models.list()).toEqual(['fast', 'smart', 'offline']);
  });

  test('the settings choose the model for the default, a tier or an id', () => {
    const models = modelsOf(
      { model: 'anthropic:a-model', fastModel: 'google:g-model', otherModel: ['openai:o-model'] },
      KEYS,
    );
    const ids = [undefined, 'fast', 'smart', 'openai:o-model', 'offline'].map(
      (name) => models.resolve(name).id,
    );
    expect(ids).toEqual([
      'anthropic:a-model',
      'google:g-model',
      'anthropic:a-model',
      'openai:o-model',
      'offline',
    ]);
    expect(models.resolve('smart')).toBe(models.resolve(undefined));
  });

  test.each(['openai:o-model', 'gpt', '', 'constructor', '__proto__'])(
    'the task never uses %j if the settings do not name it, even with its key',
    (name) => {
      const models = modelsOf({ smartModel: 'anthropic:a-model' }, KEYS);
      expect(() => models.resolve(name)).toThrow(
        expect.objectContaining({
          reason: 'UNKNOWN_MODEL',
          message: expect.stringContaining('fast, smart, offline, anthropic:a-model'),
        }),
      );
    },
  );
});

describe('the price and the context window of a model', () => {
  const settings = {
    model: 'openai:o-model',
    fastModel: 'openai:small',
    prices: { 'openai:o-model': { input: 3, output: 15 } },
    contextWindow: { 'openai:small': 8_192 },
  };
  const models = modelsOf(settings, KEYS);

  test('price and context window come from the settings by the model’s id', () => {
    expect(models.resolve(undefined)).toMatchObject({
      price: { input: 3, output: 15 },
      contextWindow: 128_000,
    });
    expect(models.resolve('fast').contextWindow).toBe(8_192);
    expect(models.resolve('fast').price).toBeUndefined();
  });

  test('well-known models have a price and a window; the settings override them, and another endpoint has no list price', () => {
    const id = 'anthropic:claude-sonnet-4-5';
    const claudeWith = (more: object) => modelWith({ model: id, ...more }, KEYS);
    expect(claudeWith({})).toMatchObject({
      contextWindow: 200_000,
      price: { input: 3, output: 15, cacheWrite: 3.75 },
    });
    const own = { prices: { [id]: { input: 1, output: 2 } }, contextWindow: { [id]: 9_000 } };
    expect(claudeWith(own)).toMatchObject({ contextWindow: 9_000, price: { input: 1, output: 2 } });
    const elsewhere = claudeWith({ baseUrls: { anthropic: 'https://proxy' } });
    expect(elsewhere).toMatchObject({ contextWindow: 200_000 });
    expect(elsewhere.price).toBeUndefined();
  });

  test('a model of OpenRouter, and a model of an endpoint that has a list, have their price, window and files', () => {
    expect(modelWith({ model: 'openrouter:anthropic/claude-sonnet-4.5' })).toMatchObject({
      contextWindow: 1_000_000,
      price: { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 },
      inputModes: expect.arrayContaining(['image/png', 'application/pdf']),
    });
    const grok = { contextWindow: 256_000, price: { input: 3, output: 15, cachedInput: 0.75 } };
    const baseUrls = { 'openai-compatible': 'https://api.x.ai/v1' };
    expect(modelWith({ model: 'openai-compatible:grok-4', baseUrls })).toMatchObject(grok);
    const env = { MCP_A2A_OPENAI_COMPATIBLE_URL: 'https://api.x.ai' };
    expect(modelWith({ model: 'openai-compatible:grok-4' }, env)).toMatchObject(grok);
    const elsewhere = modelWith({
      model: 'openai-compatible:grok-4',
      baseUrls: { 'openai-compatible': 'https://x' },
    });
    expect(elsewhere).toMatchObject({ contextWindow: 128_000 });
    expect(elsewhere.price).toBeUndefined();
  });

  test('the offline model has no price and no window, because it has no limit', () => {
    expect(models.resolve('offline').contextWindow).toBeUndefined();
  });

  test.each([
    { prices: { 'openai:m': { input: -1, output: 1 } } },
    { prices: { 'openai:m': { input: 1 } } },
    { prices: { gpt: { input: 1, output: 1 } } },
    { contextWindow: { 'openai:m': 100 } },
  ])('an invalid price or context window is refused: %j', (wrong) => {
    expect(() => modelSettings(wrong)).toThrow('is not valid');
  });
});

describe('a missing setting of a model', () => {
  test.each([
    ['anthropic:m', 'ANTHROPIC_API_KEY'],
    ['openai:m', 'OPENAI_API_KEY'],
    ['openrouter:m', 'OPENROUTER_API_KEY'],
    ['google:m', 'GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY'],
    ['openai-compatible:m', 'MCP_A2A_OPENAI_COMPATIBLE_URL'],
  ])('the error for %s names the missing setting: %s', (model, variable) => {
    const models = modelsOf({ model }, { ANTHROPIC_API_KEY: '' });
    expect(() => models.resolve(undefined)).toThrow(
      expect.objectContaining({ reason: 'CONFIGURATION', message: expect.stringContaining(variable) }),
    );
  });

  test.each(['notaurl', 'ftp://x', 'http://user:secret@host/v1'])(
    'an invalid URL of a compatible endpoint, %j, gives an error that names its variable',
    (address) => {
      const models = modelsOf({ model: 'openai-compatible:m' }, { MCP_A2A_OPENAI_COMPATIBLE_URL: address });
      expect(() => models.resolve(undefined)).toThrow(
        expect.objectContaining({
          reason: 'CONFIGURATION',
          message: expect.stringMatching(
            /^The environment variable MCP_A2A_OPENAI_COMPATIBLE_URL is not valid/,
          ),
        }),
      );
    },
  );

  test.each(['ollama:llama3.2', 'vllm:qwen'])('no setting is missing for %s on this machine', (model) => {
    expect(modelsOf({ model }).resolve(undefined).id).toBe(model);
  });

  test('no setting is missing for a compatible endpoint with a URL, because it may need no key', () => {
    const models = modelsOf(
      { model: 'openai-compatible:llama' },
      { MCP_A2A_OPENAI_COMPATIBLE_URL: 'http://localhost:11434/v1' },
    );
    expect(models.resolve(undefined).id).toBe('openai-compatible:llama');
  });
});

describe('the model settings', () => {
  test.each(['claude', 'mistral:large', 'openai:', 'openai', ':x', 'openai:a b'])(
    'the model settings refuse the model id %j',
    (model) => {
      expect(() => modelSettings({ model })).toThrow('is not valid');
    },
  );

  test('the model settings keep the colons of a model name', () => {
    const settings = modelSettings({ model: 'openai-compatible:llama3.2:1b' });
    expect(settings.model).toBe('openai-compatible:llama3.2:1b');
  });

  test.each(['ftp://x', 'x', 'http://user:secret@host/v1', 'https://host/v1?key=secret'])(
    'the model settings refuse the URL %j, and the error does not show it',
    (address) => {
      const read = () => modelSettings({ baseUrls: { openai: address } });
      expect(read).toThrow('is not valid');
      expect(read).not.toThrow('secret');
    },
  );
});

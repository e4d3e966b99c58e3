import { describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { knownModel } from '../../../../a2a-server/models/known-models.ts';
import { modelSettingsSchema } from '../../../../a2a-server/models/model-settings.ts';

const FILE = new URL('../../../../a2a-server/models/known-models.json', import.meta.url);

describe('the known models', () => {
  test('have a price that the settings accept, a source and a date, one model per line', async () => {
    const text = await readFile(FILE, 'utf8');
    const models = z
      .record(z.string(), z.record(z.string(), z.record(z.string(), z.unknown())))
      .parse(JSON.parse(text));
    for (const [provider, lines] of Object.entries(models))
      for (const [model, { price, contextWindow, inputModes, source, date }] of Object.entries(lines)) {
        const id = `${provider}:${model}`;
        modelSettingsSchema.parse({
          prices: { [id]: price },
          ...(contextWindow !== undefined && { contextWindow: { [id]: contextWindow } }),
          ...(inputModes !== undefined && { inputModes: { [id]: inputModes } }),
        });
        expect(source).toContain('https://');
        expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
        expect(text.split('\n').filter((line) => line.startsWith(`    "${model}": {`))).toHaveLength(1);
      }
  });

  test('are found with and without a version date, and never by another name', () => {
    const found = knownModel('anthropic', 'claude-sonnet-4-5');
    expect(found?.contextWindow).toBe(200_000);
    expect(found?.inputModes).toContain('application/pdf');
    expect(knownModel('openai', 'gpt-3.5-turbo')?.inputModes).toBeUndefined();
    expect(knownModel('anthropic', 'claude-sonnet-4-5-20250929')).toBe(found);
    expect(knownModel('openai', 'gpt-5-mini-2025-08-07')).toBe(knownModel('openai', 'gpt-5-mini'));
    for (const name of ['toString', 'claude', 'claude-sonnet-4-5-fast'])
      expect(knownModel('anthropic', name)).toBeUndefined();
    expect(knownModel('constructor', 'name')).toBeUndefined();
  });
});

import { describe, expect, test } from '@jest/globals';
import { nearestNames } from '../../../../shared/text/nearest-names.ts';
import { listedModels } from '../../../../a2a-server/models/known-models.ts';

const idsOf = (provider?: string) => listedModels(provider).map(({ id }) => id);

describe('the nearest names to a mistyped name', () => {
  test.each([
    ['anthropic:claude-sonet-4-5', 'anthropic:claude-sonnet-4-5'],
    ['anthropic:Claude-Sonnet-4.5', 'anthropic:claude-sonnet-4-5'],
    ['openai:gpt4o-mini', 'openai:gpt-4o-mini'],
    ['google:gemini-2.5-flsh', 'google:gemini-2.5-flash'],
  ])('the nearest names of %s begin with %s', (wrong, right) => {
    expect(nearestNames(wrong, idsOf())[0]).toBe(right);
  });

  test('the nearest names are at most three, and all of them are similar', () => {
    expect(nearestNames('anthropic:claude-x', idsOf('anthropic')).length).toBeLessThanOrEqual(3);
    expect(nearestNames('qwen3', ['llama', 'gemma'])).toEqual([]);
    expect(nearestNames('', [''])).toEqual(['']);
  });
});

import { describe, expect, test } from '@jest/globals';
import { nearestNames } from '../../../../shared/text/nearest-names.ts';
import { knownModelIds } from '../../../../a2a-server/models/known-models.ts';

describe('the nearest names', () => {
  test.each([
    ['anthropic:claude-sonet-4-5', 'anthropic:claude-sonnet-4-5'],
    ['anthropic:Claude-Sonnet-4.5', 'anthropic:claude-sonnet-4-5'],
    ['openai:gpt4o-mini', 'openai:gpt-4o-mini'],
    ['google:gemini-2.5-flsh', 'google:gemini-2.5-flash'],
  ])('of %s begin with %s', (wrong, right) => {
    expect(nearestNames(wrong, knownModelIds())[0]).toBe(right);
  });

  test('are at most three, and none of them is far away', () => {
    expect(nearestNames('anthropic:claude-x', knownModelIds('anthropic')).length).toBeLessThanOrEqual(3);
    expect(nearestNames('qwen3', ['llama', 'gemma'])).toEqual([]);
    expect(nearestNames('', [''])).toEqual(['']);
  });
});

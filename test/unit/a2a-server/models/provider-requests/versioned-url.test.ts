import { describe, expect, test } from '@jest/globals';
import { withApiVersion } from '../../../../../a2a-server/models/provider-requests/versioned-url.ts';

describe('a base URL of a model API', () => {
  test.each([
    ['http://127.0.0.1:11434', 'http://127.0.0.1:11434/v1', 'http://127.0.0.1:11434/v1'],
    ['http://host:1/v1/', 'http://127.0.0.1:11434/v1', 'http://host:1/v1'],
    ['https://proxy/anthropic', 'https://api.anthropic.com/v1', 'https://proxy/anthropic/v1'],
    ['https://openrouter.ai/', 'https://openrouter.ai/api/v1', 'https://openrouter.ai/api/v1'],
    ['https://openrouter.ai/api', 'https://openrouter.ai/api/v1', 'https://openrouter.ai/api/v1'],
    ['https://host', 'https://host/v1beta', 'https://host/v1beta'],
    ['https://host/v1beta/openai', 'https://host/v1', 'https://host/v1beta/openai'],
    ['https://host/api/paas/v4', 'https://host/v1', 'https://host/api/paas/v4'],
  ])('the base URL %s, for an API at %s, becomes %s', (given, own, expected) => {
    expect(withApiVersion(given, own)).toBe(expected);
  });
});

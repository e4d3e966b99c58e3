import { expect, test } from '@jest/globals';
import { providerUrl } from '../../../../a2a-server/models/providers.ts';

test.each([
  ['ollama', 'http://127.0.0.1:11434/v1'],
  ['lmstudio', 'http://127.0.0.1:1234/v1'],
  ['llamacpp', 'http://127.0.0.1:8080/v1'],
  ['vllm', 'http://127.0.0.1:8000/v1'],
] as const)('without a setting, the server looks for %s at its usual port: %s', (provider, url) => {
  expect(providerUrl(provider, undefined, {})).toBe(url);
});

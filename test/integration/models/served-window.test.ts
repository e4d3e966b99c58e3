/** The context window of a loaded model, as local programs report it. */
import { describe, expect, test } from '@jest/globals';
import { readServedContextWindow } from '../../../a2a-server/models/served-window.ts';
import { localModelServer } from '../../support/fake-local-models.ts';

describe('the context window of a loaded model', () => {
  test.each([
    [
      'ollama',
      'qwen3',
      '/api/ps',
      { models: [{ name: 'qwen3:latest', model: 'qwen3:latest', context_length: 4096 }] },
    ],
    [
      'lmstudio',
      'lm/qwen',
      '/api/v0/models/lm/qwen',
      { id: 'lm/qwen', max_context_length: 131072, loaded_context_length: 4096 },
    ],
    ['llamacpp', 'm.gguf', '/props', { default_generation_settings: { n_ctx: 4096 }, total_slots: 1 }],
    ['vllm', 'Qwen/Qwen3-8B', '/v1/models', { data: [{ id: 'Qwen/Qwen3-8B', max_model_len: 4096 }] }],
  ] as const)('the server reads the window from %s', async (provider, model, path, answer) => {
    const program = await localModelServer({ [path]: JSON.stringify(answer) });
    expect(await readServedContextWindow({ provider, model }, `${program.url}/v1`)).toBe(4096);
    expect(program.asked).toEqual([path]);
  });

  test.each([
    ['ollama', '{"models": []}'],
    ['vllm', '{"data": [{"id": "m"}]}'],
    ['llamacpp', 'not JSON'],
    ['lmstudio', '{"loaded_context_length": "many"}'],
    ['openai', '{}'],
  ] as const)('the window is unknown if %s does not report it', async (provider, answer) => {
    const paths = ['/api/ps', '/v1/models', '/props', '/api/v0/models/m'];
    const program = await localModelServer(Object.fromEntries(paths.map((path) => [path, answer])));
    expect(await readServedContextWindow({ provider, model: 'm' }, `${program.url}/v1`)).toBeUndefined();
  });
});

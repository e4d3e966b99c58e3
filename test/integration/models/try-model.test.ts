/** The trial of a model: one short request in the wire format of each provider. */
import { describe, expect, test } from '@jest/globals';
import type { Model } from '../../../a2a-server/models/model.ts';
import { tryModel } from '../../../a2a-server/startup/commands/check-model.ts';
import { startFakeModelEndpoint, type Reply } from '../../support/fake-model-endpoint.ts';
import { modelEndpoint } from '../../support/model-stage.ts';
import { modelsOf } from '../../support/model-settings.ts';

const KEYS = { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k', GEMINI_API_KEY: 'k' };

function modelAt(id: string, url: string): Model {
  const [provider = ''] = id.split(':');
  return modelsOf({ model: id, baseUrls: { [provider]: url } }, KEYS).resolve(undefined);
}

const status = (code: number, body: unknown): Reply => ({ type: 'status', status: code, body });

describe('the trial of a model', () => {
  test.each([
    ['anthropic:claude-fake', { max_tokens: 1 }],
    ['openai:gpt-4o', { max_tokens: 1 }],
    // The Responses API accepts no smaller limit.
    ['openai:gpt-5', { max_output_tokens: 16, store: false }],
    ['google:gemini-fake', { generationConfig: { maxOutputTokens: 1 } }],
    ['ollama:m', { max_tokens: 1 }],
  ])('the trial requests the fewest tokens of %s, and offers a tool', async (id, body) => {
    const endpoint = await modelEndpoint();
    endpoint.script({ type: 'turn', turn: { text: ['r'], finish: 'length' } });
    await tryModel(modelAt(id, endpoint.url));
    expect(endpoint.received).toHaveLength(1);
    expect(endpoint.received[0]?.body).toMatchObject({ ...body, tools: [expect.anything()] });
  });

  test.each<[string, string, Reply]>([
    ['an answer', 'answers', { type: 'turn', turn: { text: ['ready'] } }],
    ['an answer without text, cut by the limit', 'answers', { type: 'turn', turn: { finish: 'length' } }],
    ['a wrong key', 'key', status(401, { error: { message: 'no' } })],
    [
      'a wrong key at Google',
      'key',
      status(400, { error: { message: 'API key not valid. Please pass a valid API key.' } }),
    ],
    ['an unknown model', 'model', status(404, { error: { message: 'model "m" not found' } })],
    [
      'an unknown model at OpenRouter',
      'model',
      status(400, { error: { message: 'maker/m is not a valid model ID' } }),
    ],
    ['no tools', 'other', status(400, { error: { message: 'm does not support tools' } })],
    ['an overloaded provider', 'other', status(503, { error: { message: 'busy' } })],
  ])('%s: the trial’s result is %s', async (_, result, reply) => {
    const endpoint = await modelEndpoint();
    endpoint.script(reply);
    const trial = await tryModel(modelAt('vllm:m', endpoint.url));
    expect(trial.type === 'failed' ? trial.cause : trial.type).toBe(result);
  });

  test('the trial ends at its time limit, and then cancels the request', async () => {
    const endpoint = await modelEndpoint();
    // On a busy machine, the limit can come before the request reaches the endpoint. Then the limit gets longer.
    for (let limitMs = 200; endpoint.received.length === 0; limitMs *= 2) {
      endpoint.script({ type: 'turn', turn: { text: ['x'] }, cut: { frames: 0, ending: 'silence' } });
      expect(await tryModel(modelAt('vllm:m', endpoint.url), limitMs)).toEqual({ type: 'slow', limitMs });
    }
    expect(await endpoint.received[0]?.closedEarly).toBe(true);
  });

  test('the trial reports that no program listens at the address', async () => {
    const gone = await startFakeModelEndpoint();
    await gone.close();
    expect(await tryModel(modelAt('vllm:m', gone.url))).toMatchObject({
      type: 'failed',
      cause: 'connection',
    });
  });
});

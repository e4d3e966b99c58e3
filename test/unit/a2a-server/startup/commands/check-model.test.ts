import { expect, test } from '@jest/globals';
import type { Model } from '../../../../../a2a-server/models/model.ts';
import { checkModel } from '../../../../../a2a-server/startup/commands/check-model.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';

const UNREACHABLE: Model = {
  id: 'openai-compatible:m',
  stream: () => {
    throw new ProductError('AGENT_UNREACHABLE', 'The connection failed.');
  },
};

test.each([
  ['https', 'HTTPS_PROXY'],
  ['http', 'HTTP_PROXY'],
])('the advice for an unreachable model at an %s address names %s', async (scheme, variable) => {
  const baseUrls = { 'openai-compatible': `${scheme}://models.example/v1` };
  const settings = { baseUrls, keys: {}, prices: {}, contextWindow: {}, inputModes: {} };
  expect(await checkModel(UNREACHABLE, 'model', { settings, env: {} })).toMatchObject({
    level: 'fail',
    next: expect.stringContaining(`needs a proxy, set ${variable}.`),
  });
});

test('a failure that names the model is not introduced with the name again', async () => {
  const failing: Model = {
    id: 'ollama:m',
    stream: () => {
      throw new ProductError('AGENT_UNREACHABLE', 'ollama:m could not answer: the connection to it failed.');
    },
  };
  const settings = { baseUrls: {}, keys: {}, prices: {}, contextWindow: {}, inputModes: {} };
  expect(await checkModel(failing, 'model', { settings, env: {} })).toMatchObject({
    message: 'ollama:m could not answer: the connection to it failed.',
  });
});

/** A key that a command prints: it is read when it is needed, and again when the provider refuses it. */
import { describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelRequest } from '../../../a2a-server/models/model.ts';
import type { Reply } from '../../support/fake-model-endpoint.ts';
import { modelEndpoint } from '../../support/model-stage.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { modelsOf } from '../../support/model-settings.ts';

const REQUEST: ModelRequest = {
  instructions: '',
  conversation: [{ role: 'user', text: 'hello' }],
  exchanges: [],
  tools: [],
  signal: new AbortController().signal,
};

test.each([
  ['anthropic:claude-fake', 'x-api-key', (key: string) => key],
  ['openai:gpt-4o', 'authorization', (key: string) => `Bearer ${key}`],
  ['google:gemini-fake', 'x-goog-api-key', (key: string) => key],
  ['openai-compatible:m', 'authorization', (key: string) => `Bearer ${key}`],
])(
  '%s gets the key that the command prints, and the next key after the provider refuses the first',
  async (id, header, value) => {
    const endpoint = await modelEndpoint();
    const file = join(await temporaryDirectory(), 'key');
    const [provider = ''] = id.split(':');
    const keys = { [provider]: { command: ['cat', file] } };
    const model = modelsOf(
      { model: id, baseUrls: { [provider]: endpoint.url }, keys },
      { ANTHROPIC_API_KEY: 'not-this', OPENAI_API_KEY: 'not-this' },
    ).resolve(undefined);
    const answer = async (): Promise<string> => {
      let text = '';
      for await (const event of model.stream(REQUEST)) if (event.type === 'text') text += event.text;
      return text;
    };
    const sent = () => endpoint.received.map(({ headers }) => headers[header]);
    const turn: Reply = { type: 'turn', turn: { text: ['hi'] } };

    await writeFile(file, 'key-one\n');
    endpoint.script(turn, turn);
    expect(await answer()).toBe('hi');
    await writeFile(file, 'key-two\n');
    // The key is good until the provider refuses it.
    expect(await answer()).toBe('hi');
    endpoint.script({ type: 'status', status: 401 }, turn);
    expect(await answer()).toBe('hi');
    expect(sent()).toEqual(['key-one', 'key-one', 'key-one', 'key-two'].map(value));

    endpoint.script({ type: 'status', status: 401 }, { type: 'status', status: 401 });
    await expect(answer()).rejects.toThrow(
      `refused the key (401). Check the key command of ${provider} (cat …)`,
    );
  },
);

describe('a key command that fails', () => {
  test('the failure is not permanent: the task waits, and then the command runs again', async () => {
    const endpoint = await modelEndpoint();
    const directory = await temporaryDirectory();
    const model = modelsOf({
      model: 'openai:gpt-4o',
      baseUrls: { openai: endpoint.url },
      keys: { openai: { command: ['cat', join(directory, 'key')] } },
    }).resolve(undefined);
    const answer = () => model.stream(REQUEST)[Symbol.asyncIterator]().next();
    await expect(answer()).rejects.toMatchObject({
      retryable: true,
      facts: { retryAfterMs: '10000' },
      message: expect.stringContaining('exit code 1'),
    });
    await writeFile(join(directory, 'key'), 'unlocked');
    endpoint.script({ type: 'turn', turn: { text: ['hi'] } });
    expect(await answer()).toMatchObject({ value: { type: 'text', text: 'hi' } });
  });
});

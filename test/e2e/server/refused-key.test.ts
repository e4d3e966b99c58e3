/** Tests a provider that refuses the server's key with 403, and the session after the key is corrected. */
import { describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { A2aPeer } from '../../support/a2a-peer.ts';
import type { FakeModelEndpoint, Received, Reply } from '../../support/fake-model-endpoint.ts';
import { FAKE_MODEL, modelEndpoint } from '../../support/model-stage.ts';
import { startServer, type ServerHome } from '../../support/server-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { TaskView } from '../../support/wire-event.ts';

const NO_RIGHTS = 'key-without-rights-4711';
const GOOD = 'key-with-rights-4712';
const KEY_VARIABLE = 'MCP_A2A_OPENAI_COMPATIBLE_API_KEY';

/** OpenAI sends this answer for a key without the right to use a model. */
const refusal = {
  error: {
    message: 'You have insufficient permissions for this operation. Missing scopes: model.request.',
    type: 'invalid_request_error',
    param: null,
    code: null,
  },
};

function answer({ headers }: Received): Reply {
  return headers['authorization'] === `Bearer ${GOOD}`
    ? { type: 'turn', turn: { text: ['Here I am.'] } }
    : { type: 'status', status: 403, body: refusal };
}

async function newHome(): Promise<ServerHome> {
  return { stateDir: await temporaryDirectory(), workspace: await temporaryDirectory() };
}

async function refusingEndpoint(): Promise<FakeModelEndpoint> {
  const endpoint = await modelEndpoint();
  endpoint.otherwise(answer);
  return endpoint;
}

const sent = z.object({ messages: z.array(z.object({ role: z.string(), content: z.unknown() })) });

function promptOf(received: Received | undefined): string {
  return JSON.stringify(sent.parse(received?.body).messages);
}

function expectRefused({ state, statusText }: TaskView, source: string): void {
  expect([state, statusText]).toEqual([
    'FAILED',
    expect.stringContaining(
      `${FAKE_MODEL} refused the key (403). Check ${source} and the permissions of the key.`,
    ),
  ]);
  expect(statusText).not.toContain(NO_RIGHTS);
}

describe('a key without the right to use the model', () => {
  it('the task fails at once and its error names the key’s variable; after a restart with another key, the session continues', async () => {
    const endpoint = await refusingEndpoint();
    const home = await newHome();
    const withKey = (key: string) =>
      startServer({
        home,
        args: ['--model', FAKE_MODEL],
        env: { MCP_A2A_OPENAI_COMPATIBLE_URL: endpoint.url, [KEY_VARIABLE]: key },
      });
    const server = await withKey(NO_RIGHTS);
    const first = await new A2aPeer(server).send('Remember the word rhubarb.');
    expectRefused(first, KEY_VARIABLE);
    // A retry cannot help with a refused key. So the server must not repeat the request.
    expect(endpoint.received).toHaveLength(1);
    expect(server.log()).not.toContain(NO_RIGHTS);
    await server.stop();
    const { sessionId } = first;
    const next = await new A2aPeer(await withKey(GOOD)).send('Which word?', { sessionId });
    expect(next).toMatchObject({ state: 'COMPLETED', sessionId, text: 'Here I am.' });
    expect(promptOf(endpoint.received.at(-1))).toMatch(/rhubarb.*Which word/);
  });

  it('the task fails and its error names the key command; the session’s next message uses the corrected key', async () => {
    const endpoint = await refusingEndpoint();
    const key = join(await temporaryDirectory(), 'key');
    const home = await newHome();
    const settings = {
      model: FAKE_MODEL,
      baseUrls: { 'openai-compatible': endpoint.url },
      keys: { 'openai-compatible': { command: ['cat', key] } },
    };
    await writeFile(join(home.stateDir, 'config.json'), JSON.stringify({ server: settings }));
    await writeFile(key, NO_RIGHTS);
    const server = await startServer({ home });
    const peer = new A2aPeer(server);
    const first = await peer.send('Remember the word rhubarb.');
    expectRefused(first, 'the key command of openai-compatible (cat …)');
    await writeFile(key, GOOD);
    const { sessionId } = first;
    const next = await peer.send('Which word?', { sessionId });
    expect(next).toMatchObject({ state: 'COMPLETED', sessionId, text: 'Here I am.' });
    expect(promptOf(endpoint.received.at(-1))).toMatch(/rhubarb.*Which word/);
    expect(server.log()).not.toContain('key-with');
  });
});

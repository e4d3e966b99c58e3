/** Tests prompts that are too long for the model, from an MCP client to the provider. All processes are real. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startFakeModelEndpoint, type FakeModelEndpoint } from '../../support/fake-model-endpoint.ts';
import { newServerHome } from '../../support/server-program.ts';
import { stage } from '../../support/stage.ts';
import { DELEGATE, startClient } from './support/bridge-stage.ts';
import { type RawClient, textOf, refusalOf } from './support/raw-client.ts';

const MODEL = 'openai-compatible:small';
const LONG = 'word '.repeat(6_000);

let endpoint: FakeModelEndpoint;
beforeEach(async () => {
  endpoint = await startFakeModelEndpoint();
  endpoint.otherwise(() => ({ type: 'turn', turn: { text: ['Done.'] } }));
});
afterEach(() => endpoint.close());

/** Starts a bridge and a server with this context window of the model. */
async function delegating(window: number): Promise<{ client: RawClient; workspace: string }> {
  const home = await newServerHome();
  const server = {
    model: MODEL,
    baseUrls: { 'openai-compatible': `${endpoint.url}/v1` },
    contextWindow: { [MODEL]: window },
  };
  await writeFile(join(home.stateDir, 'config.json'), JSON.stringify({ server }));
  const on = await stage({ home });
  return { client: await startClient(on.server), workspace: home.workspace };
}

test('a task that is too long for the model’s window is refused with the next step, and can be delegated again', async () => {
  const { client, workspace } = await delegating(8_000);
  const refused = await client.call(DELEGATE, { task: `Read this. ${LONG}`, workspace });
  expect(refusalOf(refused)).toMatch(
    /message has about \d+ tokens.*Nothing was sent.*Put the text into a file of the workspace and name the file/,
  );
  expect(endpoint.received).toHaveLength(0);
  await writeFile(join(workspace, 'long.txt'), LONG);
  const again = await client.call(DELEGATE, { task: 'Read long.txt.', workspace });
  expect(again.structuredContent).toMatchObject({ state: 'completed', output: 'Done.' });
});

test('a task that the provider refuses as too long fails with the next step, and can be delegated again', async () => {
  const { client, workspace } = await delegating(128_000);
  const tooLong = { error: { message: 'maximum context length exceeded' } };
  endpoint.otherwise(({ text }) =>
    text.length > 20_000
      ? { type: 'status', status: 400, body: tooLong }
      : { type: 'turn', turn: { text: ['Done.'] } },
  );
  const failed = await client.call(DELEGATE, { task: `Read this. ${LONG}`, workspace });
  expect(failed.structuredContent).toMatchObject({ state: 'failed' });
  expect(textOf(failed)).toContain(
    'does not fit into the context window of openai-compatible:small and cannot be shortened. Start a new session with smaller inputs',
  );
  const again = await client.call(DELEGATE, { task: 'Read long.txt.', workspace });
  expect(again.structuredContent).toMatchObject({ state: 'completed', output: 'Done.' });
});

/**
 * Tests a file's way from the workspace over bridge and server to the provider. All are real processes and sockets.
 */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startFakeModelEndpoint, type FakeModelEndpoint } from '../../support/fake-model-endpoint.ts';
import { PNG } from '../../support/sample-files.ts';
import { newServerHome } from '../../support/server-program.ts';
import { stage } from '../../support/stage.ts';
import { DELEGATE, startClient } from './support/bridge-stage.ts';
import { type RawClient, refusalOf } from './support/raw-client.ts';

let endpoint: FakeModelEndpoint;
beforeEach(async () => {
  endpoint = await startFakeModelEndpoint();
  endpoint.otherwise(() => ({ type: 'turn', turn: { text: ['A dot.'] } }));
});
afterEach(() => endpoint.close());

const VISION = 'openai-compatible:vision';
const TEXT = 'openai-compatible:text';

/** Starts a bridge and a server with two models: one takes images, the other does not. */
async function delegating(model: string): Promise<{ client: RawClient; workspace: string }> {
  const home = await newServerHome();
  const server = {
    model,
    otherModel: [VISION, TEXT],
    baseUrls: { 'openai-compatible': `${endpoint.url}/v1` },
    inputModes: { [VISION]: ['image/png'] },
  };
  await writeFile(join(home.stateDir, 'config.json'), JSON.stringify({ server }));
  await writeFile(join(home.workspace, 'shot.png'), PNG);
  const on = await stage({ home });
  return { client: await startClient(on.server), workspace: home.workspace };
}

test('the model receives an image from the workspace', async () => {
  const { client, workspace } = await delegating(VISION);
  const result = await client.call(DELEGATE, { task: 'What is this?', workspace, files: ['shot.png'] });
  expect(result.structuredContent).toMatchObject({ state: 'completed', output: 'A dot.' });
  expect(JSON.stringify(endpoint.received[0]?.body)).toContain(
    `data:image/png;base64,${PNG.toString('base64')}`,
  );
});

test('if the task’s model does not take images, the result names a model that takes them', async () => {
  const { client, workspace } = await delegating(TEXT);
  const delegation = { task: 'What is this?', workspace, files: ['shot.png'] };
  const refused = await client.call(DELEGATE, delegation);
  expect(refusalOf(refused)).toMatch(
    /text takes no image\/png \(shot\.png\).*a model that takes it: openai-compatible:vision/,
  );
  expect(endpoint.received).toHaveLength(0);
  const accepted = await client.call(DELEGATE, { ...delegation, model: VISION });
  expect(accepted.structuredContent).toMatchObject({ state: 'completed', output: 'A dot.' });
});

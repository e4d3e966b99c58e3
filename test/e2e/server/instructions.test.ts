/** Tests what a client of a real server learns about the instruction files of a workspace. */
import { expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { modelEndpoint, serverWithModel } from '../../support/model-stage.ts';
import { stage } from '../../support/stage.ts';

it('the status names the instruction files with their sizes, and the task list shows them', async () => {
  const endpoint = await modelEndpoint();
  const { peer, server } = await stage(serverWithModel(endpoint));
  await writeFile(join(server.workspace, 'AGENTS.md'), 'Write in British English.');
  await writeFile(join(server.workspace, 'CLAUDE.md'), 'x'.repeat(2_000));
  endpoint.script({ type: 'turn', turn: { text: ['Done.'] } });
  const { taskId, overview } = await peer.send('Go');
  const files = [
    { path: 'AGENTS.md', bytes: 25, cut: false },
    { path: 'CLAUDE.md', bytes: 2_000, cut: false },
  ];
  expect(overview.instructions).toEqual(files);
  expect((await peer.task(taskId)).overview.instructions).toEqual(files);
  const said = (await peer.history(taskId)).filter(({ type, text }) => type === 'status' && text !== '');
  expect(said.map(({ state, text }) => [state, text])).toEqual([
    ['WORKING', "The agent follows the workspace's AGENTS.md (25 bytes), CLAUDE.md (2.0 kB)."],
  ]);
});

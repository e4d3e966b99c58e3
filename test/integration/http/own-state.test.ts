/** Tests a workspace that is a home directory with the server's state in it. The tasks run without approval. */
import { expect, test } from '@jest/globals';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startServer } from '../../support/server-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { plan } from '../../support/offline-plan.ts';

test('X2 a task in a home directory cannot read the server’s token in that directory', async () => {
  const workspace = await temporaryDirectory();
  const stateDir = join(workspace, '.local', 'state', 'bridge');
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  await symlink(stateDir, join(workspace, 'link'));
  await writeFile(join(workspace, '.local', 'token'), 'another token');
  const server = await startServer({ home: { workspace, stateDir } });
  const told = async (words: string): Promise<string> => {
    const response = await fetch(`${server.url}/message:send`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${server.token}`,
        'a2a-version': '1.0',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ message: { messageId: words, role: 'ROLE_USER', parts: [{ text: words }] } }),
    });
    return response.text();
  };
  for (const path of ['.local/state/bridge/token', 'link/token', join(stateDir, 'token')]) {
    const answer = await told(`read ${path}`);
    expect(answer).toContain("server's state directory");
    expect(answer).not.toContain(server.token);
  }
  // Other files in the directory must stay readable.
  expect(await told('read .local/token')).toContain('another token');
  const found = await told(plan({ tool: 'search-files', input: { pattern: server.token } }));
  expect(found).not.toContain('bridge/token');
});

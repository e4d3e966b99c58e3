import { describe, expect, test } from '@jest/globals';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFileNamedByAgent } from '../../../../bridge/sessions/read-file-named-by-agent.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

describe('readWorkspaceFile, which reads a file of a workspace', () => {
  test('readWorkspaceFile reads a file, and returns undefined for a missing file', async () => {
    const workspace = await temporaryDirectory();
    await writeFile(join(workspace, 'a.md'), 'one\n');
    expect(await readFileNamedByAgent(join(workspace, 'a.md'), [workspace])).toBe('one\n');
    expect(await readFileNamedByAgent(join(workspace, 'b.md'), [workspace])).toBe('');
    expect(await readFileNamedByAgent(join(workspace, 'no', 'b.md'), [workspace])).toBe('');
  });

  test('X2 readWorkspaceFile reads nothing outside the workspaces, also not through links', async () => {
    const [workspace, other] = [await temporaryDirectory(), await temporaryDirectory()];
    await writeFile(join(other, 'key'), 'secret');
    await symlink(join(other, 'key'), join(workspace, 'link'));
    await symlink(other, join(workspace, 'directory'));
    await mkdir(join(workspace, 'a.md'));
    for (const path of [
      join(other, 'key'),
      join(workspace, 'link'),
      join(workspace, 'directory', 'key'),
      join(workspace, 'directory', 'new'),
      '/no/such/directory/a.md',
      `${workspace}/../${other.split('/').at(-1) ?? ''}/key`,
      join(workspace, 'a.md'),
      'a.md',
    ])
      expect([path, await readFileNamedByAgent(path, [workspace])]).toEqual([path, undefined]);
    expect(await readFileNamedByAgent(join(workspace, 'a'), [])).toBeUndefined();
  });
});

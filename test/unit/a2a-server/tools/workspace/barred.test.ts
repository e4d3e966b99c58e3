/** Tests that no tool can reach the server's own directory inside a workspace. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { link, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createWorkspaceOpener } from '../../../../../a2a-server/startup/settings/open-allowed-workspace.ts';
import { listFilesTool } from '../../../../../a2a-server/tools/builtin/list-files.ts';
import { readFileTool } from '../../../../../a2a-server/tools/builtin/read-file.ts';
import { searchFilesTool } from '../../../../../a2a-server/tools/builtin/search-files.ts';
import type { Tool } from '../../../../../a2a-server/tools/tool.ts';
import { openWorkspace } from '../../../../../a2a-server/tools/workspace/workspace.ts';
import { identifyBarredDirectory } from '../../../../../a2a-server/tools/workspace/barred-directory.ts';
import type { DirectoryAccess } from '../../../../../a2a-server/tools/workspace/directory.ts';
import { writeFileTool } from '../../../../../a2a-server/tools/builtin/write-file.ts';
import { toolRun } from '../../../../support/tool-run.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const signal = new AbortController().signal;
const refused = { reason: 'OUTSIDE_WORKSPACE', message: expect.stringContaining("server's state directory") };

let home: string;
let state: string;

beforeEach(async () => {
  home = await temporaryDirectory();
  state = join(home, '.local', 'state', 'bridge');
  await mkdir(join(state, 'below'), { recursive: true });
  await writeFile(join(state, 'token'), 'secret');
  await writeFile(join(state, 'below', 'log'), 'secret');
  await writeFile(join(home, '.local', 'state', 'notes'), 'no secret');
});

const barred = async () => [await identifyBarredDirectory(state)];

async function runner(access?: DirectoryAccess) {
  const workspace = await openWorkspace(home, { barred: await barred(), ...(access && { access }) });
  return async (tool: Tool, input: unknown) => {
    const shown = await tool.show(input, { principal: 'ada', workspace, signal });
    return (await tool.run(input, toolRun({ workspace, signal, basis: shown.basis }))).text;
  };
}

describe.each(['by-handle', 'by-path'] as const)(
  'a barred directory, which file tools may not use (access: %s)',
  (access) => {
    it('X2 file tools cannot read, list, search or write a barred directory through any path', async () => {
      await symlink(state, join(home, 'absolute'));
      await symlink('.local/state', join(home, 'above'));
      await symlink('../.local/state/bridge/token', join(home, '.local', 'token'));
      const run = await runner(access);
      const before = await readdir(state);
      for (const path of [
        '.local/state/bridge',
        'absolute',
        'above/bridge',
        '.local/../.local/state/bridge',
        state,
      ]) {
        await expect(run(listFilesTool, { path })).rejects.toMatchObject(refused);
        await expect(run(searchFilesTool, { path, pattern: 'secret' })).rejects.toMatchObject(refused);
        await expect(run(readFileTool, { path: `${path}/token` })).rejects.toMatchObject(refused);
        await expect(run(readFileTool, { path: `${path}/below/log` })).rejects.toMatchObject(refused);
        await expect(run(writeFileTool, { path: `${path}/token`, content: 'x' })).rejects.toMatchObject(
          refused,
        );
        await expect(run(writeFileTool, { path: `${path}/new`, content: 'x' })).rejects.toMatchObject(
          refused,
        );
      }
      for (const path of ['above/bridge/../bridge/token', '.local/token'])
        await expect(run(readFileTool, { path })).rejects.toMatchObject(refused);
      expect(await readdir(state)).toEqual(before);
      expect(await readFile(join(state, 'token'), 'utf8')).toBe('secret');
    });

    it('X2 file tools cannot use a barred directory’s files through a hard link elsewhere either', async () => {
      await link(join(state, 'token'), join(home, 'notes.txt'));
      await link(join(state, 'below', 'log'), join(home, '.local', 'log.txt'));
      await link(join(home, '.local', 'state', 'notes'), join(home, 'plain.txt'));
      const run = await runner(access);
      for (const path of ['notes.txt', '.local/log.txt']) {
        await expect(run(readFileTool, { path })).rejects.toMatchObject(refused);
        await expect(run(searchFilesTool, { path, pattern: 'secret' })).rejects.toMatchObject(refused);
        await expect(run(writeFileTool, { path, content: 'x' })).rejects.toMatchObject(refused);
      }
      expect(await run(searchFilesTool, { pattern: 'secret', glob: '*.txt' })).toContain(
        'plain.txt:1: no secret',
      );
      expect(await run(searchFilesTool, { pattern: '^secret', regex: true })).not.toContain('notes.txt:');
      expect(await run(readFileTool, { path: 'plain.txt' })).toContain('no secret');
    });

    it('X2 a barred directory does not appear in lists and searches of its parent', async () => {
      const run = await runner(access);
      expect(await run(listFilesTool, { path: '.local/state' })).toBe('notes');
      expect(await run(listFilesTool, { recursive: true })).toBe(
        '.local/\n.local/state/\n.local/state/notes',
      );
      expect(await run(searchFilesTool, { pattern: 'secret', includeIgnored: true })).toBe(
        '.local/state/notes:1: no secret',
      );
      expect(await run(searchFilesTool, { glob: '**/{token,log,notes}' })).toBe('.local/state/notes');
    });

    it('X2 a barred directory stays barred after a rename', async () => {
      const run = await runner(access);
      await rename(state, join(home, 'renamed'));
      await expect(run(readFileTool, { path: 'renamed/token' })).rejects.toMatchObject(refused);
      expect(await run(listFilesTool, {})).toBe('.local/');
    });
  },
);

describe('the choice of a workspace', () => {
  it('X2 a workspace cannot be a barred directory or a directory below it, also through links', async () => {
    await symlink(join(state, 'below'), join(home, 'link'));
    const open = createWorkspaceOpener({ fallback: undefined, allowed: [], barred: await barred() });
    for (const path of [state, join(state, 'below'), join(home, 'link')])
      await expect(open(path)).rejects.toMatchObject(refused);
    expect((await open(join(home, '.local'))).root).toBe(join(home, '.local'));
  });
});

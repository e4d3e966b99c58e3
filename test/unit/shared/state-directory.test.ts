import { describe, expect, test } from '@jest/globals';
import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { prepareStateDirectory, stateDirectory, tryToWrite } from '../../../shared/state-directory.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const at = (platform: NodeJS.Platform, env: Record<string, string> = {}): string =>
  stateDirectory({ env, platform, home: '/home/ann' });

describe('the state directory', () => {
  test('is where the variable says, or where the platform keeps such things', () => {
    expect(at('linux', { MCP_A2A_BRIDGE_HOME: '/x' })).toBe('/x');
    expect(at('linux', { MCP_A2A_BRIDGE_HOME: '' })).toBe('/home/ann/.local/state/mcp-a2a-bridge');
    expect(at('linux', { XDG_STATE_HOME: '/state' })).toBe('/state/mcp-a2a-bridge');
    expect(at('linux', { XDG_STATE_HOME: 'relative' })).toBe('/home/ann/.local/state/mcp-a2a-bridge');
    expect(at('darwin')).toBe('/home/ann/Library/Application Support/mcp-a2a-bridge');
    expect(at('win32', { LOCALAPPDATA: '/local' })).toBe('/local/mcp-a2a-bridge');
  });

  test('X1 is made for its owner alone, with the directories to it', async () => {
    const path = join(await temporaryDirectory(), 'a', 'b');
    await prepareStateDirectory(path);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    await prepareStateDirectory(path);
  });

  test('X1 is refused where others may write: they could put another token there', async () => {
    const path = join(await temporaryDirectory(), 'open');
    await mkdir(path);
    await chmod(path, 0o777);
    await expect(prepareStateDirectory(path)).rejects.toThrow(`chmod 700 ${path}`);
  });

  test('is refused where a file is in its place', async () => {
    const path = join(await temporaryDirectory(), 'file');
    await writeFile(path, '');
    await expect(prepareStateDirectory(path)).rejects.toMatchObject({ reason: 'CONFIGURATION' });
  });

  test('is refused where it cannot be made, with what keeps it from being made', async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, 'file'), '');
    await symlink('nowhere', join(directory, 'link'));
    const below = prepareStateDirectory(join(directory, 'file', 'a', 'b'));
    await expect(below).rejects.toThrow('a part of the path is a file');
    const dangling = prepareStateDirectory(join(directory, 'link', 'a'));
    await expect(dangling).rejects.toMatchObject({ reason: 'CONFIGURATION' });
  });

  const onLinux = process.platform === 'linux' ? test : test.skip;
  onLinux('is refused below /proc, where no directory can be made, and does not hang', async () => {
    const below = prepareStateDirectory('/proc/mcp-a2a-bridge/state');
    await expect(below).rejects.toThrow('it cannot be made there');
  });

  test('R28 a directory that is not to be written is told by trying, which leaves nothing', async () => {
    const directory = await temporaryDirectory();
    await tryToWrite(directory);
    expect(await readdir(directory)).toEqual([]);
    await chmod(directory, 0o555);
    // Nothing is forbidden to root, so as root the process is nobody meanwhile.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.('nobody');
    try {
      const told = `The state directory ${directory} cannot be used: this user may not write to it.`;
      await expect(tryToWrite(directory)).rejects.toThrow(told);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });

  test('is made by one of several that make it at once', async () => {
    const path = join(await temporaryDirectory(), 'a', 'b', 'c');
    await Promise.all(Array.from({ length: 8 }, () => prepareStateDirectory(path)));
    expect((await stat(path)).isDirectory()).toBe(true);
  });
});

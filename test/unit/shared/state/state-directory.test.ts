import { describe, expect, test } from '@jest/globals';
import { chmod, chown, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  prepareStateDirectory,
  stateDirectory,
  checkWritable,
  requireWritableOrCreatable,
} from '../../../../shared/state/state-directory.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const at = (platform: NodeJS.Platform, env: Record<string, string> = {}): string =>
  stateDirectory({ env, platform, home: '/home/ann' });

describe('the state directory', () => {
  test('the directory is the path in the variable, or the platform’s directory for program state', () => {
    expect(at('linux', { MCP_A2A_BRIDGE_HOME: '/x' })).toBe('/x');
    expect(at('linux', { MCP_A2A_BRIDGE_HOME: '' })).toBe('/home/ann/.local/state/mcp-a2a-bridge');
    expect(at('linux', { XDG_STATE_HOME: '/state' })).toBe('/state/mcp-a2a-bridge');
    expect(at('linux', { XDG_STATE_HOME: 'relative' })).toBe('/home/ann/.local/state/mcp-a2a-bridge');
    expect(at('darwin')).toBe('/home/ann/Library/Application Support/mcp-a2a-bridge');
    expect(at('win32', { LOCALAPPDATA: '/local' })).toBe('/local/mcp-a2a-bridge');
  });

  test('X1 the directory is created with its parents, and only its owner can open it', async () => {
    const path = join(await temporaryDirectory(), 'a', 'b');
    await prepareStateDirectory(path);
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    await prepareStateDirectory(path);
  });

  test('X1 the directory is refused if other users may write to it, because they could replace the token', async () => {
    const path = join(await temporaryDirectory(), 'open');
    await mkdir(path);
    await chmod(path, 0o777);
    await expect(prepareStateDirectory(path)).rejects.toThrow(`chmod 700 ${path}`);
  });

  const onPosix = process.platform === 'win32' ? test.skip : test;
  onPosix('X1 the directory of another user is refused, and the error names the way out', async () => {
    const isRoot = process.getuid?.() === 0;
    const path = isRoot ? await temporaryDirectory() : '/';
    if (isRoot) await chown(path, 65_534, 65_534);
    const told =
      'it belongs to another user. Choose another with --state-dir or MCP_A2A_BRIDGE_HOME, or run the command as that user.';
    await expect(prepareStateDirectory(path)).rejects.toThrow(told);
  });

  test('the directory is refused if its path is a file', async () => {
    const path = join(await temporaryDirectory(), 'file');
    await writeFile(path, '');
    await expect(prepareStateDirectory(path)).rejects.toMatchObject({ reason: 'CONFIGURATION' });
  });

  test('the directory is refused with the cause if it cannot be created', async () => {
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
    await expect(below).rejects.toThrow('it cannot be created there');
  });

  test('R28 a trial write detects a directory without write access, and removes the trial file', async () => {
    const directory = await temporaryDirectory();
    await checkWritable(directory);
    expect(await readdir(directory)).toEqual([]);
    await chmod(directory, 0o555);
    // Root may write everywhere. So a root process switches to the user `nobody` for this test.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.('nobody');
    try {
      const told = `The state directory ${directory} cannot be used: this user may not write to it.`;
      await expect(checkWritable(directory)).rejects.toThrow(told);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });

  test('a check of a directory that does not exist says whether it can be created, and creates nothing', async () => {
    const directory = await temporaryDirectory();
    await requireWritableOrCreatable(join(directory, 'a', 'b'));
    expect(await readdir(directory)).toEqual([]);
    await writeFile(join(directory, 'file'), '');
    const below = requireWritableOrCreatable(join(directory, 'file', 'a', 'b'));
    await expect(below).rejects.toThrow('a part of the path is a file');
  });

  test('several processes can create the directory at once', async () => {
    const path = join(await temporaryDirectory(), 'a', 'b', 'c');
    await Promise.all(Array.from({ length: 8 }, () => prepareStateDirectory(path)));
    expect((await stat(path)).isDirectory()).toBe(true);
  });
});

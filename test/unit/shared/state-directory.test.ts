import { describe, expect, test } from '@jest/globals';
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { prepareStateDirectory, stateDirectory } from '../../../shared/state-directory.ts';
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
});

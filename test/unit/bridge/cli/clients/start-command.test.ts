import { describe, expect, it } from '@jest/globals';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  isPackageRunnerCopy,
  chooseBridgeStartCommand,
} from '../../../../../bridge/cli/clients/start-command.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

/** Makes the directory of npx. @returns the path of the bridge in it */
async function copiedByNpx(packages: readonly string[]): Promise<string> {
  const directory = join(await temporaryDirectory(), '_npx', '5f2a9d');
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'package.json'), JSON.stringify({ _npx: { packages } }));
  return join(directory, 'node_modules', 'mcp-a2a-bridge', 'dist', 'bridge', 'main.js');
}

describe('the command with which a client starts the bridge', () => {
  it('from a clone or an installed package, it is this Node with this script', async () => {
    const script = '/opt/mcp-a2a-bridge/dist/bridge/main.js';
    expect(await chooseBridgeStartCommand(script, 'linux')).toEqual({
      command: process.execPath,
      args: [script],
    });
  });

  it.each(['mcp-a2a-bridge', 'mcp-a2a-bridge@1.2.3', 'mcp-a2a-bridge@^1.2', 'mcp-a2a-bridge@latest'])(
    'under npx, it is npx with the package as the person named it: %s',
    async (named) => {
      const script = await copiedByNpx(['other', named]);
      expect(await chooseBridgeStartCommand(script, 'linux')).toEqual({
        command: 'npx',
        args: ['-y', named],
      });
      expect(await chooseBridgeStartCommand(script, 'win32')).toEqual({
        command: 'cmd',
        args: ['/c', 'npx', '-y', named],
      });
    },
  );

  it.each([
    ['a tarball', ['file:///tmp/mcp-a2a-bridge-0.1.0.tgz']],
    ['a tarball of a relative path', ['./mcp-a2a-bridge-0.1.0.tgz']],
    ['a repository', ['github:ada/mcp-a2a-bridge']],
    ['another package', ['@ada/mcp-a2a-bridge']],
    ['nothing', []],
  ])('npx with %s is refused, and the error says what to do', async (_, packages) => {
    const script = await copiedByNpx(packages);
    await expect(chooseBridgeStartCommand(script, 'linux')).rejects.toMatchObject({
      reason: 'CONFIGURATION',
      message: expect.stringContaining('npm install -g'),
    });
  });

  it.each([
    ['/home/ada/.cache/pnpm/dlx/1f3/x/node_modules/mcp-a2a-bridge/dist/bridge/main.js', true],
    ['/tmp/xfs-4c/dlx-99/node_modules/mcp-a2a-bridge/dist/bridge/main.js', true],
    ['/tmp/bunx-0-mcp-a2a-bridge/node_modules/mcp-a2a-bridge/dist/bridge/main.js', true],
    ['C:\\Users\\ada\\npm-cache\\_npx\\5f2\\node_modules\\mcp-a2a-bridge\\dist\\bridge\\main.js', true],
    ['/usr/lib/node_modules/mcp-a2a-bridge/dist/bridge/main.js', false],
    ['/home/ada/npx/mcp-a2a-bridge/dist/bridge/main.js', false],
  ])('%s is a temporary copy: %s', (script, is) => expect(isPackageRunnerCopy(script)).toBe(is));
});

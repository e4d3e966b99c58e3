/** Chooses the command with which an MCP client starts the bridge. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { fieldOf } from '../../../shared/runtime/record.ts';
import type { BridgeStartCommand } from './client.ts';

/**
 * Matches a path in the directory to which `npx` copies packages: `<npm's cache>/_npx/<hash>/node_modules`. The
 * `package.json` in `<hash>` names the packages as the person typed them.
 */
const NPX_DIRECTORY = /^(?<directory>.*[\\/]_npx[\\/][^\\/]+)[\\/]node_modules[\\/]/;
/** Matches a path in the temporary directories of `pnpm dlx`, `yarn dlx` and `bunx`. */
const OTHER_TEMPORARY = /[\\/](dlx(-[^\\/]+)?|bunx-[^\\/]+)[\\/]/;
/** Matches a package name for `npx`, with an optional version or tag. */
const PACKAGE_OF_REGISTRY = /^mcp-a2a-bridge(@[\w.^~+-]+)?$/;

/**
 * Returns true if the script is a copy that a package runner such as `npx` made. Such a copy may be deleted at any
 * time.
 */
export function isPackageRunnerCopy(script: string): boolean {
  return NPX_DIRECTORY.test(script) || OTHER_TEMPORARY.test(script);
}

/**
 * Chooses the command. In a clone or an installed package, the command starts this script with the Node that runs now.
 * (A client that was started from the desktop may find no Node, or an older one.) Under `npx`, the command is `npx`
 * with the package that the person named.
 * @throws ProductError CONFIGURATION if the script is a temporary copy, and no command would start the same package
 * again
 */
export async function chooseBridgeStartCommand(
  script: string,
  platform: NodeJS.Platform = process.platform,
): Promise<BridgeStartCommand> {
  if (!isPackageRunnerCopy(script)) return { command: process.execPath, args: [script] };
  const directory = NPX_DIRECTORY.exec(script)?.groups?.['directory'];
  const named = directory === undefined ? undefined : await packageNamedToNpx(directory);
  if (named === undefined)
    throw new ProductError(
      'CONFIGURATION',
      `${script} is a temporary copy. A client could not start it later. Install the package (npm install -g, with the same package), then run mcp-a2a-bridge install again.`,
      { facts: { path: script } },
    );
  const args = ['-y', named];
  // Windows can start a .cmd file only through its shell.
  return platform === 'win32' ? { command: 'cmd', args: ['/c', 'npx', ...args] } : { command: 'npx', args };
}

async function packageNamedToNpx(directory: string): Promise<string | undefined> {
  const text = await readFile(join(directory, 'package.json'), 'utf8').catch(() => '{}');
  const packages = fieldOf(fieldOf(JSON.parse(text), '_npx'), 'packages');
  return z
    .array(z.string())
    .safeParse(packages)
    .data?.find((each) => PACKAGE_OF_REGISTRY.test(each));
}

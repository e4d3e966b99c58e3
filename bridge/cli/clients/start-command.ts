/** Chooses the command with which a client starts the bridge. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { fieldOf } from '../../../shared/runtime/record.ts';
import type { ServerCommand } from './client.ts';

/** `npx` copies packages to `<npm's cache>/_npx/<hash>/node_modules`, and its `package.json` names them as they were typed. */
const NPX_DIRECTORY = /^(?<directory>.*[\\/]_npx[\\/][^\\/]+)[\\/]node_modules[\\/]/;
/** The temporary directories of `pnpm dlx`, `yarn dlx` and `bunx`. */
const OTHER_TEMPORARY = /[\\/](dlx(-[^\\/]+)?|bunx-[^\\/]+)[\\/]/;
/** A package of the registry, as `npx` takes it: the name, with an optional version or tag. */
const PACKAGE_OF_REGISTRY = /^mcp-a2a-bridge(@[\w.^~+-]+)?$/;

/** Returns true if a package runner copied the program here. Such a copy may be deleted at any time. */
export function isTemporary(script: string): boolean {
  return NPX_DIRECTORY.test(script) || OTHER_TEMPORARY.test(script);
}

/**
 * Chooses the command. From a clone or an installed package, it is this Node with this script: a client that was started
 * from the desktop may find no Node, or an older one. Under `npx`, it is `npx` with the package that the person named.
 * @throws ProductError CONFIGURATION if the script is temporary, and no command gets the same package again
 */
export async function startCommand(
  script: string,
  platform: NodeJS.Platform = process.platform,
): Promise<ServerCommand> {
  if (!isTemporary(script)) return { command: process.execPath, args: [script] };
  const directory = NPX_DIRECTORY.exec(script)?.groups?.['directory'];
  const named = directory === undefined ? undefined : await packageNamedToNpx(directory);
  if (named === undefined)
    throw new ProductError(
      'CONFIGURATION',
      `${script} is a temporary copy. A client could not start it later. Install the package (npm install -g, with the same package), then run mcp-a2a-bridge install again.`,
      { facts: { path: script } },
    );
  const args = ['-y', named];
  // Windows starts a .cmd file only through its shell.
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

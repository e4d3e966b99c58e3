import { lstat, readFile, realpath } from 'node:fs/promises';
import { sep } from 'node:path';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';

/** The list of sockets in this network namespace (proc_net(5)). */
const SOCKETS_FILE = '/proc/net/unix';

/**
 * Returns the real paths of all bound sockets in this network namespace. A sandboxed command could open these sockets
 * by their path. Sockets below `covered` are left out.
 * @param covered directories that the sandbox replaces
 * @throws ProductError CONFIGURATION if the list of sockets cannot be read
 */
export async function findBoundSockets(covered: readonly string[], list = SOCKETS_FILE): Promise<string[]> {
  const found = new Set<string>();
  for (const path of parseBoundPaths(await readList(list))) {
    const real = await realSocket(path);
    if (real !== undefined && !covered.some((directory) => isBelow(real, directory))) found.add(real);
  }
  return [...found];
}

async function readList(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new ProductError(
      'CONFIGURATION',
      `The Unix sockets of services cannot be hidden from a command, because ${path} cannot be read (${errorMessageOf(cause)}). The command was not run. Make the file readable, or set "confineShell" to "off".`,
      { facts: { key: 'confineShell' }, cause },
    );
  }
}

/**
 * Returns the paths in the table. Each row has seven fields, then the path. An abstract name begins with `@` and is
 * left out (proc_net(5)).
 */
export function parseBoundPaths(table: string): string[] {
  return table
    .split('\n')
    .slice(1)
    .flatMap((line) => /^(?:\S+\s+){7}(\/.*)$/u.exec(line)?.[1] ?? []);
}

/**
 * Resolves symbolic links in the path. Returns undefined if the path no longer names a socket, or is not accessible.
 */
async function realSocket(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await lstat(real)).isSocket() ? real : undefined;
  } catch {
    return undefined;
  }
}

function isBelow(path: string, directory: string): boolean {
  return path.startsWith(directory.endsWith(sep) ? directory : `${directory}${sep}`);
}

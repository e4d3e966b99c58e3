/**
 * Which directories a call may name as its workspace. A model writes the calls, and an agent reads in its workspace without
 * asking: a directory outside of these needs a person, or the operator's setting (X2).
 */
import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemErrorCode } from '../../shared/runtime/system-error.ts';

export type Placed =
  /** The path is absolute and has no symbolic link. */
  { type: 'allowed'; path: string } | { type: 'outside'; path: string };

export interface AllowedWorkspaces {
  /** The bridge's own directory: relative paths start here. */
  own: string;
  /** The operator's, from `--allow-workspace`. */
  listed: readonly string[];
}

/** @param roots directories that the client's user works in (MCP roots), asked for only where nothing else allows the path */
export async function placedWorkspace(
  wanted: string,
  { own, listed }: AllowedWorkspaces,
  roots: () => Promise<readonly string[]>,
): Promise<Placed> {
  const path = await resolved(resolve(own, wanted));
  if ((await isBelow(path, [own, ...listed])) || (await isBelow(path, await roots())))
    return { type: 'allowed', path };
  return { type: 'outside', path };
}

/** The directories that MCP roots name; a root that is no file has none. */
export function rootDirectories(uris: readonly string[]): readonly string[] {
  return uris.flatMap((uri) => {
    try {
      return [fileURLToPath(uri)];
    } catch {
      return [];
    }
  });
}

async function isBelow(path: string, directories: readonly string[]): Promise<boolean> {
  for (const directory of directories) {
    const rest = relative(await resolved(directory), path);
    if (rest === '' || !(isAbsolute(rest) || rest === '..' || rest.startsWith(`..${sep}`))) return true;
  }
  return false;
}

/** Without symbolic links, as far as the path exists: the agent may make the rest, or be on another machine. */
async function resolved(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    if (parent === path || !['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '')) return path;
    return join(await resolved(parent), basename(path));
  }
}

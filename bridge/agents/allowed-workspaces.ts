/**
 * Checks whether a call may name a directory as its workspace. A model writes the calls, and an agent reads its
 * workspace without approval. So any other directory needs a person's permission or the operator's setting (X2).
 */
import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemErrorCode } from '../../shared/runtime/errors.ts';

export type WorkspaceCheck =
  /** The path is absolute, without symbolic links. */
  { type: 'allowed'; path: string } | { type: 'outside'; path: string };

export interface AllowedWorkspaces {
  /** The bridge's directory: the base of relative paths. */
  own: string;
  /** From the operator's `--allow-workspace`. */
  listed: readonly string[];
}

/** @param roots directories of the client's user (MCP roots); read only if nothing else allows the path */
export async function checkWorkspace(
  wanted: string,
  { own, listed }: AllowedWorkspaces,
  roots: () => Promise<readonly string[]>,
): Promise<WorkspaceCheck> {
  const path = await resolvedPath(resolve(own, wanted));
  if ((await isBelow(path, [own, ...listed])) || (await isBelow(path, await roots())))
    return { type: 'allowed', path };
  return { type: 'outside', path };
}

/** Returns the directories of MCP roots. A root that is not a file URL has no directory. */
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
    // A service starts in the root of the file system. Nobody chose that directory as a workspace.
    if (dirname(resolve(directory)) === resolve(directory)) continue;
    const rest = relative(await resolvedPath(directory), path);
    if (rest === '' || !(isAbsolute(rest) || rest === '..' || rest.startsWith(`..${sep}`))) return true;
  }
  return false;
}

/** Resolves symbolic links as far as the path exists. The agent may create the rest, or be on another machine. */
export async function resolvedPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    if (parent === path || !['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '')) return path;
    return join(await resolvedPath(parent), basename(path));
  }
}

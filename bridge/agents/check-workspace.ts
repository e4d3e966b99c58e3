/**
 * Checks whether a tool call may name a directory as the workspace of a task. The model chooses this directory, and an
 * agent reads its workspace without approval. X2: no task may leave its workspace. So a person must allow each
 * directory that no rule allows.
 */
import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorCode } from '../../shared/runtime/errors.ts';

export type WorkspaceCheckResult =
  /** `path` is absolute, and its symbolic links are resolved. */
  { type: 'allowed'; path: string } | { type: 'outside'; path: string };

export interface AllowedCallWorkspaces {
  /** The bridge's working directory. A relative path starts here. */
  own: string;
  /** The directories that the operator allows with `--allow-workspace`. */
  listed: readonly string[];
}

/**
 * Checks whether a tool call may use this directory as a workspace.
 * @param roots returns the directories of the client's MCP roots. `roots` is called only if no other rule allows the
 * path.
 */
export async function checkWorkspace(
  wanted: string,
  { own, listed }: AllowedCallWorkspaces,
  roots: () => Promise<readonly string[]>,
): Promise<WorkspaceCheckResult> {
  const path = await resolveSymlinks(resolve(own, wanted));
  if ((await isBelow(path, [own, ...listed])) || (await isBelow(path, await roots())))
    return { type: 'allowed', path };
  return { type: 'outside', path };
}

/** Converts the URIs of MCP roots to directories. Omits roots that are not file URLs. */
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
    // A service often runs in the root of the file system. If that directory were allowed, every path would be allowed.
    // So it is skipped.
    if (dirname(resolve(directory)) === resolve(directory)) continue;
    const rest = relative(await resolveSymlinks(directory), path);
    if (rest === '' || !(isAbsolute(rest) || rest === '..' || rest.startsWith(`..${sep}`))) return true;
  }
  return false;
}

/**
 * Resolves the symbolic links in the part of the path that exists. The rest might not exist yet, or might exist only on
 * the agent's machine.
 */
export async function resolveSymlinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    if (parent === path || !['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return path;
    return join(await resolveSymlinks(parent), basename(path));
  }
}

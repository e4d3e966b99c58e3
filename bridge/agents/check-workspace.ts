/**
 * Checks whether a tool call may name a directory as its workspace. A model chooses the directory. An agent reads its
 * workspace without approval. So a directory that no rule allows needs a person's permission (X2).
 */
import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemErrorCode } from '../../shared/runtime/errors.ts';

export type WorkspaceCheck =
  /** `path` is absolute and has no symbolic links. */
  { type: 'allowed'; path: string } | { type: 'outside'; path: string };

export interface AllowedWorkspaces {
  /** The bridge's working directory. Relative paths start here. */
  own: string;
  /** Set by the operator with `--allow-workspace`. */
  listed: readonly string[];
}

/**
 * Checks whether a call may use this directory.
 * @param roots returns the directories of the client's MCP roots; called only if no other rule allows the path
 */
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

/** Converts MCP roots to directories. Skips roots that are not file URLs. */
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
    // A service often starts in the root of the file system. As a rule, this directory would allow every path, so it is
    // skipped.
    if (dirname(resolve(directory)) === resolve(directory)) continue;
    const rest = relative(await resolvedPath(directory), path);
    if (rest === '' || !(isAbsolute(rest) || rest === '..' || rest.startsWith(`..${sep}`))) return true;
  }
  return false;
}

/**
 * Resolves symbolic links as far as the path exists. The rest of the path may not exist yet, or may exist only on the
 * agent's machine.
 */
export async function resolvedPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    if (parent === path || !['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '')) return path;
    return join(await resolvedPath(parent), basename(path));
  }
}

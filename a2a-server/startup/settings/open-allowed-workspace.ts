import { realpath } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { openWorkspace } from '../../tools/workspace/workspace.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';
import type { BarredDirectory } from '../../tools/workspace/barred-directory.ts';

interface WorkspaceRules {
  /** The workspace of a task whose message names no workspace. */
  fallback: string | undefined;
  /** The directories that may contain workspaces, after links are resolved. An empty list allows all directories. */
  allowed: readonly string[];
  /**
   * The directories of the server itself. Workspaces and file tools must not use them, because they contain the
   * server's state.
   */
  barred: readonly BarredDirectory[];
}

/**
 * Returns a function that opens a task's workspace. The function throws ProductError UNKNOWN_WORKSPACE or
 * OUTSIDE_WORKSPACE.
 */
export function createWorkspaceOpener(
  rules: WorkspaceRules,
): (path: string | undefined) => Promise<Workspace> {
  return async (path) => {
    const chosen = path ?? rules.fallback;
    if (chosen === undefined)
      throw new ProductError(
        'UNKNOWN_WORKSPACE',
        'The task names no workspace, and this server has no default. Name the workspace as an absolute path.',
      );
    const workspace = await openWorkspace(chosen, { barred: rules.barred });
    if (rules.allowed.length === 0) return workspace;
    for (const allowed of rules.allowed) {
      const root = await realpath(allowed).catch(() => undefined);
      if (root !== undefined && containsPath(root, workspace.root)) return workspace;
    }
    throw new ProductError(
      'UNKNOWN_WORKSPACE',
      `${chosen} is not an allowed workspace. Allowed directories: ${rules.allowed.join(', ')}.`,
      { facts: { workspace: chosen } },
    );
  };
}

function containsPath(outer: string, inner: string): boolean {
  const path = relative(outer, inner);
  return path === '' || !(isAbsolute(path) || path === '..' || /^\.\.[/\\]/.test(path));
}

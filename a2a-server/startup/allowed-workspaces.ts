/** Which directories tasks may work in. */
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import { ProductError } from '../../shared/runtime/errors.ts';
import { openWorkspace } from '../tools/workspace/workspace.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import type { Identity } from '../tools/workspace/directory.ts';

export interface WorkspaceRules {
  /** For tasks that name none. */
  fallback: string | undefined;
  /** Workspaces must lie in one of these, links resolved; anywhere when there are none. */
  allowed: readonly string[];
  /** Directories that no workspace may lie in and no file tool enters: where the server keeps its state. */
  barred: readonly Identity[];
}

/** @returns how a task's workspace is opened; it throws ProductError UNKNOWN_WORKSPACE, OUTSIDE_WORKSPACE. */
export function allowedWorkspaces(rules: WorkspaceRules): (path: string | undefined) => Promise<Workspace> {
  return async (path) => {
    const chosen = path ?? rules.fallback;
    if (chosen === undefined)
      throw new ProductError(
        'UNKNOWN_WORKSPACE',
        'The task names no workspace and this server has no default one: name the directory to work in, as an absolute path.',
      );
    const workspace = await openWorkspace(chosen, { barred: rules.barred });
    if (rules.allowed.length === 0) return workspace;
    for (const allowed of rules.allowed) {
      const root = await realpath(allowed).catch(() => undefined);
      if (root !== undefined && contains(root, workspace.root)) return workspace;
    }
    throw new ProductError(
      'UNKNOWN_WORKSPACE',
      `${chosen} is not among the directories this server works in: ${rules.allowed.join(', ')}.`,
      { facts: { workspace: chosen } },
    );
  };
}

function contains(outer: string, inner: string): boolean {
  const path = relative(outer, inner);
  return path === '' || !(isAbsolute(path) || path === '..' || /^\.\.[/\\]/.test(path));
}

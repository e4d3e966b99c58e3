import { basename, dirname, isAbsolute, posix, relative, resolve, sep } from 'node:path';
import type { SideEffect, ToolSource } from '../../shared/protocol/tool-approval.ts';
import type { Tool } from '../tools/tool.ts';
import { outsideWorkspaceError } from '../tools/workspace/split-path.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';

/** A path relative to the workspace's root, with `/`. The root is `.`. */
export interface ResolvedTargetPath {
  /** The path in the tool call, normalised. */
  written: string;
  /** The path after the symbolic links are resolved. Undefined if it is not in the workspace. */
  leadsTo: string | undefined;
}

export interface ResolvedTargets {
  /** The absolute path of the workspace. */
  root?: string;
  paths: readonly ResolvedTargetPath[];
  trees: readonly ResolvedTargetPath[];
  command: string | undefined;
  /** The directory in which the command runs. */
  cwd?: ResolvedTargetPath;
  hosts: readonly string[];
  /** True if the paths, `command` and `hosts` do not say the whole effect of the call. */
  incomplete?: true;
}

export interface CallFacts {
  tool: string;
  source: ToolSource;
  sideEffect: SideEffect;
  reach: ResolvedTargets;
}

export const NO_RESOLVED_TARGETS: ResolvedTargets = { paths: [], trees: [], command: undefined, hosts: [] };

/**
 * Resolves the paths of a tool call for the policy rules. X2: the built-in tools refuse a path that leads out of the
 * workspace, but an ACP agent does not.
 */
export async function resolveTargets(
  tool: Tool,
  input: unknown,
  workspace: Pick<Workspace, 'root' | 'locate'>,
): Promise<ResolvedTargets> {
  const {
    paths = [],
    entries = [],
    trees = [],
    command,
    cwd,
    hosts = [],
    incomplete,
  } = tool.reach?.(input) ?? {};
  const inside = async (path: string): Promise<string | undefined> =>
    (await workspace.locate(path).catch(() => undefined))?.path;
  const located = async (path: string): Promise<ResolvedTargetPath> => ({
    written: normalisedPath(path, workspace.root),
    leadsTo: await inside(path),
  });
  /** Resolves the links in the directory of the entry, but not a link in its last name. */
  const locatedEntry = async (path: string): Promise<ResolvedTargetPath> => {
    const parent = await inside(dirname(path));
    return {
      written: normalisedPath(path, workspace.root),
      leadsTo: parent === undefined ? undefined : posix.join(parent, basename(path)),
    };
  };
  return {
    root: workspace.root,
    // An entry may be a link. An allow rule must then match the link and its target.
    paths: await Promise.all([
      ...[...paths, ...entries].map(located),
      ...entries.filter((path) => basename(path) !== '..').map(locatedEntry),
    ]),
    trees: await Promise.all(trees.map(located)),
    command,
    ...(cwd !== undefined && { cwd: await located(cwd) }),
    hosts,
    ...(incomplete && { incomplete }),
  };
}

/** Returns a workspace whose directory no longer exists. It looks only at the text of a path. */
export function workspaceByText(root: string): Pick<Workspace, 'root' | 'locate'> {
  return {
    root,
    async locate(path) {
      const inside = normalisedPath(path, root);
      if (inside === '..' || inside.startsWith('../') || isAbsolute(inside))
        throw outsideWorkspaceError(path);
      return { path: inside, kind: 'missing' };
    },
  };
}

function normalisedPath(path: string, root: string): string {
  const inside = relative(root, resolve(root, path)).split(sep).join('/');
  return inside === '' ? '.' : inside;
}

import { basename, dirname, isAbsolute, posix, relative, resolve, sep } from 'node:path';
import type { Tool } from '../tools/tool.ts';
import { withDescendants } from '../tools/workspace/removal-tree.ts';
import { outsideWorkspaceError } from '../tools/workspace/split-path.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import { MAX_PATH_NAMES, type ResolvedTargetPath, type ResolvedTargets } from './call-facts.ts';
import { isRunLaterFile } from './run-later-files.ts';

/**
 * Resolves the paths of a tool call for the policy rules. X2: the built-in tools refuse a path that leads out of the
 * workspace, but an ACP agent does not.
 */
export async function resolveTargets(
  tool: Tool,
  input: unknown,
  workspace: LocatingWorkspace,
): Promise<ResolvedTargets> {
  const {
    paths = [],
    entries = [],
    trees: declaredTrees = [],
    command,
    cwd,
    hosts = [],
    incomplete,
  } = tool.reach?.(input) ?? {};
  const inside = (path: string): Promise<string | undefined> => pathInWorkspace(workspace, path);
  // An ACP agent that deletes or moves a directory changes everything in it.
  const changesFiles = tool.sideEffect === 'files';
  const areTrees = await Promise.all(
    changesFiles && tool.source.type === 'acp-agent' ? paths.map((path) => isDirectory(workspace, path)) : [],
  );
  const trees = [...declaredTrees, ...paths.filter((_, index) => areTrees[index])];
  const changesRunLater =
    changesFiles && (await mayChangeRunLaterFile(workspace, [...paths, ...entries], trees));
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
    ...(changesRunLater && { changesRunLater }),
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

type LocatingWorkspace = Pick<Workspace, 'root' | 'locate'> & Partial<Pick<Workspace, 'survey'>>;

async function pathInWorkspace(workspace: LocatingWorkspace, path: string): Promise<string | undefined> {
  return (await workspace.locate(path).catch(() => undefined))?.path;
}

async function isDirectory(workspace: LocatingWorkspace, path: string): Promise<boolean> {
  return (await workspace.locate(path).catch(() => undefined))?.kind === 'directory';
}

async function mayChangeRunLaterFile(
  workspace: LocatingWorkspace,
  paths: readonly string[],
  trees: readonly string[],
): Promise<boolean> {
  for (const path of [...paths, ...trees]) if (await isInRepository(workspace, path)) return true;
  for (const tree of trees) if (await holdsRunLaterFile(workspace, tree)) return true;
  return false;
}

/**
 * git treats a directory with a file `HEAD` as a repository. The mode `accept-edits` asks before a call creates `HEAD`.
 */
async function isInRepository(workspace: LocatingWorkspace, path: string): Promise<boolean> {
  const directories = directoriesAbove((await pathInWorkspace(workspace, path)) ?? '.');
  if (directories.length > MAX_PATH_NAMES) return true;
  for (const directory of directories) {
    const head = posix.join(directory, 'HEAD');
    const found = await workspace.locate(head).catch(() => undefined);
    if (found === undefined || found.kind !== 'missing' || found.path !== head) return true;
  }
  return false;
}

/** Also true if the tree is too large to read. */
async function holdsRunLaterFile(workspace: LocatingWorkspace, tree: string): Promise<boolean> {
  if (workspace.survey === undefined || !(await isDirectory(workspace, tree))) return false;
  const found = await workspace.survey(tree, new AbortController().signal).catch(() => undefined);
  return found === undefined || withDescendants(found).some(({ path }) => isRunLaterFile(path));
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

/** Returns the directories of the path, from the workspace's root (`.`) on. */
function directoriesAbove(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return ['.', ...parts.map((_, index) => parts.slice(0, index + 1).join('/'))];
}

function normalisedPath(path: string, root: string): string {
  const inside = relative(root, resolve(root, path)).split(sep).join('/');
  return inside === '' ? '.' : inside;
}

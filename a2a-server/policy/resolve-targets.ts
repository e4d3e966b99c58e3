import { basename, dirname, isAbsolute, posix, relative, resolve, sep } from 'node:path';
import type { Tool } from '../tools/tool.ts';
import { withDescendants } from '../tools/workspace/removal-tree.ts';
import { outsideWorkspaceError } from '../tools/workspace/split-path.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import { isTooLongToMatch, type ResolvedTargetPath, type ResolvedTargets } from './call-facts.ts';
import { isRunLaterFile } from './run-later-files.ts';

interface TargetContext {
  workspace: LocatingWorkspace;
  signal: AbortSignal;
  /** True if the mode `accept-edits` decides about the call. Otherwise `changesRunLater` is not computed. */
  acceptsEdits: boolean;
}

/**
 * Resolves the paths of a tool call for the policy rules. X2: the built-in tools refuse a path that leads out of the
 * workspace, but an ACP agent does not.
 */
export async function resolveTargets(
  tool: Tool,
  input: unknown,
  context: TargetContext,
): Promise<ResolvedTargets> {
  const { workspace } = context;
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
    changesFiles &&
    context.acceptsEdits &&
    (await mayChangeRunLaterFile(context, [...paths, ...entries], trees));
  const located = async (path: string): Promise<ResolvedTargetPath> => ({
    written: normalisedPath(path, workspace.root),
    leadsTo: await inside(path),
  });
  const locatedEntry = async (path: string): Promise<ResolvedTargetPath> => ({
    written: normalisedPath(path, workspace.root),
    leadsTo: await entryInWorkspace(workspace, path),
  });
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

/** Resolves the links in the directory of the path, but not a link in its last name. */
async function entryInWorkspace(workspace: LocatingWorkspace, path: string): Promise<string | undefined> {
  const parent = await pathInWorkspace(workspace, dirname(path));
  return parent === undefined ? undefined : posix.join(parent, basename(path));
}

async function isDirectory(workspace: LocatingWorkspace, path: string): Promise<boolean> {
  return (await workspace.locate(path).catch(() => undefined))?.kind === 'directory';
}

async function mayChangeRunLaterFile(
  { workspace, signal }: TargetContext,
  paths: readonly string[],
  trees: readonly string[],
): Promise<boolean> {
  // A path may be a link. The call then changes the link or its target, and each may be in a repository.
  const places = await Promise.all(
    [...paths, ...trees].flatMap((path) => [
      pathInWorkspace(workspace, path),
      entryInWorkspace(workspace, path),
    ]),
  );
  for (const place of new Set(places)) if (await isInRepository(workspace, place ?? '.')) return true;
  for (const tree of trees) if (await holdsRunLaterFile(workspace, tree, signal)) return true;
  return false;
}

/**
 * True if a directory above the path may be a git repository, i.e. if it contains an entry `HEAD`. This check is
 * enough, because in the mode `accept-edits` a call that creates `HEAD` needs a person's decision.
 * @param path relative to the workspace's root
 */
async function isInRepository(workspace: LocatingWorkspace, path: string): Promise<boolean> {
  if (isTooLongToMatch(path)) return true;
  for (const directory of directoriesAbove(path)) {
    const head = posix.join(directory, 'HEAD');
    const found = await workspace.locate(head).catch(() => undefined);
    if (found === undefined || found.kind !== 'missing' || found.path !== head) return true;
  }
  return false;
}

/** True if the tree contains a run-later file, or is too large to read. */
async function holdsRunLaterFile(
  workspace: LocatingWorkspace,
  tree: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (workspace.survey === undefined || !(await isDirectory(workspace, tree))) return false;
  const found = await workspace.survey(tree, signal).catch(() => undefined);
  signal.throwIfAborted();
  return found === undefined || withDescendants(found).some(({ path }) => isRunLaterFile(path));
}

/** Returns a replacement for a workspace whose directory no longer exists. It resolves paths by their text alone. */
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

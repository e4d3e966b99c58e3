/**
 * X2: resolves a path name by name, and never leaves the workspace.
 *
 * The code reads each link itself, and resolves its target in the same way. `..` goes back to the directory through
 * which the path came, not to the current parent on disk. An absolute path or target must be the workspace directory or
 * lie below it. Otherwise it is refused. If a link leads to nothing, the result has the path of the missing target, not
 * that of the link.
 */
import type { BigIntStats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import {
  openDirectory,
  isSameFile,
  type Directory,
  type DirectoryAccess,
  type FileIdentity,
} from './directory.ts';
import type { BarredDirectory } from './barred-directory.ts';
import { nothingAtError, toFileError } from './file-failure.ts';
import { outsideWorkspaceError, splitPath, type PathParts } from './split-path.ts';
import { ProductError, errorCode } from '../../../shared/runtime/errors.ts';

/** The maximum number of symbolic links in one path. The Linux kernel has the same limit (path_resolution(7)). */
const MAX_LINKS = 40;

export interface WorkspaceRoot {
  readonly path: string;
  readonly identity: FileIdentity;
  readonly access: DirectoryAccess;
  /** Directories that no path may enter, even below the root. */
  readonly barred: readonly BarredDirectory[];
}

/** The file or directory that a path names. `path` is relative to the root, with `/`. The root itself is `.`. */
export type ResolvedPath =
  | { kind: 'directory'; path: string; directory: Directory }
  | { kind: 'entry'; path: string; directory: Directory; name: string; info: BigIntStats }
  /**
   * Nothing exists at the path. `parents` are the missing directories below `directory`. `name` belongs in the last of
   * them.
   */
  | { kind: 'missing'; path: string; directory: Directory; parents: string[]; name: string };

/** Resolves the path, calls `use`, and then closes all opened directories. */
export async function withResolvedPath<T>(
  root: WorkspaceRoot,
  path: string,
  use: (place: ResolvedPath) => Promise<T>,
): Promise<T> {
  const { parts, directory } = splitPath(root.path, path);
  const stack: Directory[] = [];
  try {
    stack.push(await openRoot(root));
    const place = await walkDown(root, { path, stack, names: [], queue: parts, links: 0 });
    if (directory && place.kind !== 'directory') {
      if (place.kind === 'missing') throw new Error(`There is no directory "${path}" in the workspace.`);
      throw new Error(`"${path}" is a file; leave out the trailing separator.`);
    }
    return await use(place);
  } catch (error) {
    throw toFileError(error, path);
  } finally {
    await Promise.all(stack.map((opened) => opened.close()));
  }
}

/** An existing entry and its directory. The entry may be a link. */
export interface NamedEntry {
  /** The path of the entry, relative to the root, with `/`. */
  path: string;
  directory: Directory;
  name: string;
  info: BigIntStats;
}

/**
 * Like `withResolvedPath`, but does not follow a link in the last name.
 * @throws Error if the entry is missing, or if the path names the workspace root
 */
export async function withNamedEntry<T>(
  root: WorkspaceRoot,
  path: string,
  use: (entry: NamedEntry) => Promise<T>,
): Promise<T> {
  const { parts, directory: meansDirectory } = splitPath(root.path, path);
  const name = parts.pop();
  if (name === undefined || name === '..')
    throw new Error(
      `"${path}" does not end in the name of a file or directory of the workspace; use a path without "..".`,
    );
  const parent = parts.length === 0 ? '.' : parts.join('/');
  return withResolvedPath(root, parent, async (place) => {
    if (place.kind !== 'directory') throw nothingAtError(path);
    const { directory } = place;
    const info = await lookAt(directory, name);
    if (info === undefined) throw nothingAtError(path);
    if (meansDirectory && !info.isDirectory())
      throw new Error(`"${path}" is not a directory; leave out the trailing separator.`);
    return use({ path: place.path === '.' ? name : `${place.path}/${name}`, directory, name, info });
  });
}

interface PathWalk {
  path: string;
  /** The open directories from the root to the current one. Never empty. */
  stack: Directory[];
  names: string[];
  queue: string[];
  links: number;
}

async function openRoot(root: WorkspaceRoot): Promise<Directory> {
  const directory = await openDirectory(root.path, root.access, root.barred).catch((error: unknown) => {
    throw workspaceMovedError(root, error);
  });
  if (isSameFile(directory.identity, root.identity)) return directory;
  await directory.close();
  throw workspaceMovedError(root);
}

function workspaceMovedError(root: WorkspaceRoot, cause?: unknown): ProductError {
  return new ProductError(
    'UNKNOWN_WORKSPACE',
    `The workspace ${root.path} cannot be opened, or another directory has replaced it. Restore it, or start a new task.`,
    { cause },
  );
}

async function walkDown(root: WorkspaceRoot, walk: PathWalk): Promise<ResolvedPath> {
  for (let part = walk.queue.shift(); part !== undefined; part = walk.queue.shift()) {
    const place = part === '..' ? await goToParent(walk) : await resolveNextName(root, walk, part);
    if (place !== undefined) return place;
  }
  return { kind: 'directory', path: walk.names.join('/') || '.', directory: currentDirectory(walk) };
}

async function goToParent(walk: PathWalk): Promise<undefined> {
  if (walk.stack.length === 1) throw outsideWorkspaceError(walk.path);
  await walk.stack.pop()?.close();
  walk.names.pop();
}

async function resolveNextName(
  root: WorkspaceRoot,
  walk: PathWalk,
  name: string,
): Promise<ResolvedPath | undefined> {
  const directory = currentDirectory(walk);
  const info = await lookAt(directory, name);
  if (info === undefined) return toMissingPath(walk, name);
  if (info.isSymbolicLink()) return followLink(root, walk, await readlink(directory.at(name)));
  if (info.isDirectory()) {
    walk.stack.push(await directory.child(name));
    walk.names.push(name);
    return undefined;
  }
  if (walk.queue.length > 0)
    throw new Error(`"${[...walk.names, name].join('/')}" is a file, not a directory.`);
  return { kind: 'entry', path: [...walk.names, name].join('/'), directory, name, info };
}

function toMissingPath(walk: PathWalk, name: string): ResolvedPath {
  const rest = [name, ...walk.queue];
  if (rest.includes('..')) {
    throw new Error(
      `There is no directory "${[...walk.names, name].join('/')}" to go back from; use a path without "..".`,
    );
  }
  return {
    kind: 'missing',
    path: [...walk.names, ...rest].join('/'),
    directory: currentDirectory(walk),
    parents: rest.slice(0, -1),
    name: rest.at(-1) ?? name,
  };
}

async function followLink(root: WorkspaceRoot, walk: PathWalk, target: string): Promise<undefined> {
  walk.links += 1;
  if (walk.links > MAX_LINKS)
    throw new Error(`"${walk.path}" leads through an endless chain of symbolic links.`);
  const { parts, absolute } = targetParts(root, walk.path, target);
  if (absolute) {
    await Promise.all(walk.stack.splice(1).map((opened) => opened.close()));
    walk.names.length = 0;
  }
  walk.queue.unshift(...parts);
}

/** Splits the target of a link. The error names only the given path, so it does not reveal the target. */
function targetParts(root: WorkspaceRoot, path: string, target: string): PathParts {
  try {
    return splitPath(root.path, target);
  } catch (error) {
    throw error instanceof ProductError && error.reason === 'OUTSIDE_WORKSPACE'
      ? outsideWorkspaceError(path)
      : error;
  }
}

async function lookAt(directory: Directory, name: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(directory.at(name), { bigint: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function currentDirectory(walk: PathWalk): Directory {
  const directory = walk.stack.at(-1);
  if (directory === undefined) throw new Error('the walk has left its root');
  return directory;
}

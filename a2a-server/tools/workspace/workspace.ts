import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, parse } from 'node:path';
import { ProductError, errorCode } from '../../../shared/runtime/errors.ts';
import {
  chooseDirectoryAccess,
  includesFileIdentity,
  stateDirectoryError,
  type Directory,
  type DirectoryAccess,
  type FileIdentity,
} from './directory.ts';
import { readDirectoryEntries, type DirectoryListing } from './directory-entries.ts';
import type { BarredDirectory } from './barred-directory.ts';
import { pathIsDirectoryError } from './file-failure.ts';
import { requireMovableFile, moveFile, type MoveOptions } from './move-file.ts';
import { withNamedEntry, withResolvedPath, type ResolvedPath, type WorkspaceRoot } from './resolve-path.ts';
import { removeWorkspaceEntry, type RemovalOptions } from './remove.ts';
import { replaceWorkspaceFile, type ReplaceFileOptions } from './replace-file.ts';
import { readRemovalTree, type RemovalEntry } from './removal-tree.ts';
import {
  notRegularFileError,
  readFileBytes,
  readTextFile,
  type FileContent,
  type TextFile,
} from './text-file.ts';
import { walkTree, type TreeDirectory, type TreeOptions, type WalkStep } from './walk-tree.ts';

/**
 * The directory of a task. X2: file tools read and write files only through this interface. A path is relative to the
 * root, or absolute and below the root. Any other path throws ProductError OUTSIDE_WORKSPACE. Messages of file system
 * errors are sentences for a model.
 */
export interface Workspace {
  /** The canonical absolute path of the workspace. Symbolic links are resolved. */
  readonly root: string;
  /** Resolves links. Returns a path relative to the root, with `/`. The root is `.`. The path need not exist. */
  locate(path: string): Promise<{ path: string; kind: ResolvedPath['kind'] }>;
  /**
   * Returns the file as text, or undefined if it does not exist.
   * @throws ProductError TOO_LARGE, UNSUPPORTED_CONTENT
   */
  read(path: string): Promise<TextFile | undefined>;
  /**
   * Returns the bytes of any file, or undefined if it does not exist.
   * @throws ProductError TOO_LARGE, UNSUPPORTED_CONTENT
   */
  bytes(path: string): Promise<FileContent | undefined>;
  /**
   * Writes the whole file and creates missing directories. Returns the path, in the form of `locate`.
   * @throws ProductError INPUT_CHANGED
   */
  replace(path: string, replacement: ReplaceFileOptions): Promise<string>;
  /** Lists the entry and everything below it. Follows no links. @throws ProductError TOO_LARGE */
  survey(path: string, signal: AbortSignal): Promise<RemovalEntry>;
  /** Returns the target path, in the form of `locate`. @throws Error if the file cannot move there */
  destination(from: string, to: string): Promise<string>;
  /** Moves or renames a file and creates missing directories. @throws ProductError INPUT_CHANGED */
  move(from: string, to: string, move: MoveOptions): Promise<void>;
  /** Deletes the entries that a survey lists. @throws ProductError INPUT_CHANGED */
  remove(path: string, removal: RemovalOptions): Promise<void>;
  list(path: string): Promise<DirectoryListing>;
  /** Calls `visit` for the directory `path` and the directories below it, until `visit` returns `stop`. */
  walk(
    path: string,
    options: TreeOptions,
    visit: (directory: TreeDirectory) => Promise<WalkStep>,
  ): Promise<void>;
}

interface WorkspaceOptions {
  /** How the server reaches the entries of a directory. The default depends on the operating system. */
  access?: DirectoryAccess;
  /** Directories of the server itself. File tools never enter them. */
  barred?: readonly BarredDirectory[];
}

/**
 * Opens a directory as a workspace. No handle stays open. Each use opens the directory and checks its identity again.
 * @throws ProductError UNKNOWN_WORKSPACE if the path is relative, missing, not a directory, or the root of a file
 *   system
 * @throws ProductError OUTSIDE_WORKSPACE if the directory is barred or below a barred directory
 */
export async function openWorkspace(path: string, how: WorkspaceOptions = {}): Promise<Workspace> {
  const root = await findRoot(path, how);
  return {
    root: root.path,
    locate: (inside) =>
      withResolvedPath(root, inside, (place) => Promise.resolve({ path: place.path, kind: place.kind })),
    read: (inside) => withResolvedPath(root, inside, (place) => inFile(place, readTextFile)),
    bytes: (inside) => withResolvedPath(root, inside, (place) => inFile(place, readFileBytes)),
    replace: (inside, replacement) =>
      withResolvedPath(root, inside, (place) => replaceWorkspaceFile(place, replacement)),
    survey: (inside, signal) => withNamedEntry(root, inside, (entry) => readRemovalTree(entry, signal)),
    destination: (from, to) =>
      withNamedEntry(root, from, (entry) =>
        withResolvedPath(root, to, (place) => Promise.resolve(requireMovableFile(entry, place).path)),
      ),
    move: (from, to, move) =>
      withNamedEntry(root, from, (entry) =>
        withResolvedPath(root, to, (place) => moveFile(entry, place, move)),
      ),
    remove: (inside, removal) =>
      withNamedEntry(root, inside, (entry) => removeWorkspaceEntry(entry, removal)),
    list: (inside) => withResolvedPath(root, inside, (place) => listPlace(place, inside)),
    walk: (inside, options, visit) => walkTree({ root, start: inside }, options, visit),
  };
}

async function findRoot(path: string, { barred = [], ...options }: WorkspaceOptions): Promise<WorkspaceRoot> {
  if (!isAbsolute(path))
    throw unknownWorkspaceError(
      path,
      'is not an absolute path; give the path from the root of the file system',
    );
  if (path.includes('\0')) throw unknownWorkspaceError(path, 'contains a NUL character; remove it');
  try {
    const canonical = await realpath(path);
    const info = await stat(canonical, { bigint: true });
    if (!info.isDirectory())
      throw unknownWorkspaceError(path, 'is not a directory; name the directory to work in');
    if (parse(canonical).root === canonical) {
      throw unknownWorkspaceError(
        path,
        'is the root of a file system; name a directory in it, so that the agent stays inside that directory',
      );
    }
    await refuseBarred(canonical, info, barred);
    await access(canonical, constants.R_OK | constants.X_OK);
    return {
      path: canonical,
      identity: info,
      access: options.access ?? (await chooseDirectoryAccess(canonical)),
      barred,
    };
  } catch (error) {
    if (error instanceof ProductError) throw error;
    const code = errorCode(error);
    if (code === 'ENOENT')
      throw unknownWorkspaceError(path, 'does not exist; create it, or name another directory', error);
    if (code === 'ENOTDIR')
      throw unknownWorkspaceError(path, 'has a file where a directory is needed; name a directory', error);
    if (code === 'EACCES' || code === 'EPERM')
      throw unknownWorkspaceError(
        path,
        'cannot be opened: the server lacks permission; change its permissions or name another directory',
        error,
      );
    throw unknownWorkspaceError(path, `cannot be opened (${code ?? 'unknown error'})`, error);
  }
}

/** Refuses a workspace that is a barred directory or below one. So the function also checks each parent. */
async function refuseBarred(
  canonical: string,
  identity: FileIdentity,
  barred: readonly BarredDirectory[],
): Promise<void> {
  if (barred.length === 0) return;
  const parents = await Promise.all(parentsOf(canonical).map((path) => stat(path, { bigint: true })));
  if ([identity, ...parents].some((one) => includesFileIdentity(barred, one))) throw stateDirectoryError();
}

function parentsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...parentsOf(parent)];
}

function unknownWorkspaceError(path: string, why: string, cause?: unknown): ProductError {
  return new ProductError('UNKNOWN_WORKSPACE', `The workspace ${JSON.stringify(path)} ${why}.`, { cause });
}

async function inFile<T>(
  place: ResolvedPath,
  read: (directory: Directory, file: Extract<ResolvedPath, { kind: 'entry' }>) => Promise<T>,
): Promise<T | undefined> {
  switch (place.kind) {
    case 'missing':
      return undefined;
    case 'directory':
      throw pathIsDirectoryError(place.path);
    case 'entry':
      // Opening a device can have side effects, so only regular files are opened.
      if (!place.info.isFile()) throw notRegularFileError(place.path);
      return read(place.directory, place);
  }
}

async function listPlace(place: ResolvedPath, path: string): Promise<DirectoryListing> {
  if (place.kind === 'directory') return readDirectoryEntries(place.directory);
  if (place.kind === 'entry') throw new Error(`"${path}" is a file; read-file shows its content.`);
  throw new Error(`There is no directory "${path}" in the workspace.`);
}

/** The directory a task works in, and the only way a file tool reaches a file (X2). */
import { realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, parse } from 'node:path';
import { ProductError } from '../../shared/errors.ts';
import {
  bestHold,
  isAmong,
  serversOwn,
  type Directory,
  type Hold,
  type Identity,
} from './workspace/directory.ts';
import { readEntries, type Entries } from './workspace/entries.ts';
import { codeOf, isADirectory } from './workspace/file-failure.ts';
import { movable, moveFile, type Move } from './workspace/move-file.ts';
import { withEntry, withPlace, type Place, type Root } from './workspace/place.ts';
import { removeEntry, type Removal } from './workspace/remove.ts';
import { replaceFile, type Replacement } from './workspace/replace-file.ts';
import { survey, type Item } from './workspace/survey.ts';
import { notRegular, readContent, readText, type FileContent, type TextFile } from './workspace/text-file.ts';
import { walkTree, type TreeDirectory, type TreeOptions } from './workspace/tree.ts';

/**
 * Every path is relative to the root (an absolute one must begin with it) and leads to what is inside, or the call throws
 * ProductError OUTSIDE_WORKSPACE. Failures of the file system are thrown as sentences.
 */
export interface Workspace {
  /** Canonical absolute path, symlinks resolved. */
  readonly root: string;
  /** Where `path` leads: relative to the root, with `/`, links resolved; `.` is the root. Nothing need be there. */
  locate(path: string): Promise<{ path: string; kind: Place['kind'] }>;
  /** The file as text, or undefined when there is none. @throws ProductError TOO_LARGE, UNSUPPORTED_CONTENT */
  read(path: string): Promise<TextFile | undefined>;
  /** The file whatever it holds, or undefined when there is none. @throws ProductError TOO_LARGE, UNSUPPORTED_CONTENT */
  bytes(path: string): Promise<FileContent | undefined>;
  /** Makes `content` the file's whole content, and the directories to it. @throws ProductError INPUT_CHANGED */
  replace(path: string, replacement: Replacement): Promise<void>;
  /** What a path names, itself and not what a link leads to, with all that is below it. @throws ProductError TOO_LARGE */
  survey(path: string, signal: AbortSignal): Promise<Item>;
  /** Whether the file could be moved there now. @returns where to, as `locate` does. @throws Error where it could not. */
  destination(from: string, to: string): Promise<string>;
  /** Gives a file another name, and makes the directories to it. @throws ProductError INPUT_CHANGED */
  move(from: string, to: string, move: Move): Promise<void>;
  /** Deletes what a path names, as a survey sees it. @throws ProductError INPUT_CHANGED */
  remove(path: string, removal: Removal): Promise<void>;
  list(path: string): Promise<Entries>;
  /** Shows `visit` the directory `path` and those below it, until it says `stop`. */
  walk(
    path: string,
    options: TreeOptions,
    visit: (directory: TreeDirectory) => Promise<'go on' | 'stop'>,
  ): Promise<void>;
}

export interface WorkspaceOptions {
  /** How directories are held; by default chosen by what the system can do. */
  hold?: Hold;
  /** Directories the file tools never enter, wherever they lie: the server's own. */
  barred?: readonly Identity[];
}

/**
 * Opens a directory as a workspace. Holds nothing open: the directory is found again, and known again, at each use.
 * @throws ProductError UNKNOWN_WORKSPACE for a path that is relative, missing, no directory, or a file system's root;
 * OUTSIDE_WORKSPACE for one that is barred or lies in a directory that is.
 */
export async function openWorkspace(path: string, how: WorkspaceOptions = {}): Promise<Workspace> {
  const root = await findRoot(path, how);
  return {
    root: root.path,
    locate: (inside) =>
      withPlace(root, inside, (place) => Promise.resolve({ path: place.path, kind: place.kind })),
    read: (inside) => withPlace(root, inside, (place) => inFile(place, readText)),
    bytes: (inside) => withPlace(root, inside, (place) => inFile(place, readContent)),
    replace: (inside, replacement) => withPlace(root, inside, (place) => replaceFile(place, replacement)),
    survey: (inside, signal) => withEntry(root, inside, (entry) => survey(entry, signal)),
    destination: (from, to) =>
      withEntry(root, from, (entry) =>
        withPlace(root, to, (place) => Promise.resolve(movable(entry, place).path)),
      ),
    move: (from, to, move) =>
      withEntry(root, from, (entry) => withPlace(root, to, (place) => moveFile(entry, place, move))),
    remove: (inside, removal) => withEntry(root, inside, (entry) => removeEntry(entry, removal)),
    list: (inside) => withPlace(root, inside, (place) => listPlace(place, inside)),
    walk: (inside, options, visit) => walkTree(root, inside, options, visit),
  };
}

async function findRoot(path: string, { hold, barred = [] }: WorkspaceOptions): Promise<Root> {
  if (!isAbsolute(path))
    throw unknown(path, 'is not an absolute path; give the whole path, from the root on');
  if (path.includes('\0')) throw unknown(path, 'holds a character that no path can hold');
  try {
    const canonical = await realpath(path);
    const info = await stat(canonical, { bigint: true });
    if (!info.isDirectory()) throw unknown(path, 'is not a directory; name the directory to work in');
    if (parse(canonical).root === canonical) {
      throw unknown(
        path,
        'is the root of a file system; name a directory in it, so that the agent stays in there',
      );
    }
    await refuseBarred(canonical, barred);
    return { path: canonical, identity: info, hold: hold ?? (await bestHold(canonical)), barred };
  } catch (error) {
    if (error instanceof ProductError) throw error;
    const code = codeOf(error);
    if (code === 'ENOENT') throw unknown(path, 'does not exist; create it, or name another directory', error);
    if (code === 'ENOTDIR') throw unknown(path, 'leads through a file; name a directory', error);
    if (code === 'EACCES' || code === 'EPERM') throw unknown(path, 'may not be opened by the server', error);
    throw unknown(path, `cannot be opened (${code ?? 'unknown error'})`, error);
  }
}

/** Walks up: a directory below a barred one has no name in it for the walk down to meet. */
async function refuseBarred(canonical: string, barred: readonly Identity[]): Promise<void> {
  if (barred.length === 0) return;
  for (let at = canonical; ; at = dirname(at)) {
    if (isAmong(barred, await stat(at, { bigint: true }))) throw serversOwn();
    if (dirname(at) === at) return;
  }
}

function unknown(path: string, why: string, cause?: unknown): ProductError {
  return new ProductError('UNKNOWN_WORKSPACE', `The workspace ${JSON.stringify(path)} ${why}.`, { cause });
}

async function inFile<T>(
  place: Place,
  read: (directory: Directory, file: Extract<Place, { kind: 'entry' }>) => Promise<T>,
): Promise<T | undefined> {
  switch (place.kind) {
    case 'missing':
      return undefined;
    case 'directory':
      throw isADirectory(place.path);
    case 'entry':
      // Opening a device can have effects of its own, so it is not even opened.
      if (!place.info.isFile()) throw notRegular(place.path);
      return read(place.directory, place);
  }
}

async function listPlace(place: Place, path: string): Promise<Entries> {
  if (place.kind === 'directory') return readEntries(place.directory);
  if (place.kind === 'entry') throw new Error(`"${path}" is a file; read-file shows what is in it.`);
  throw new Error(`There is no directory "${path}" in the workspace.`);
}

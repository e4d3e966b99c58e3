/**
 * Lists an entry and everything below it. A person reviews this list before a move or a deletion. X2: follows no link,
 * so the list contains links themselves.
 */
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { Directory } from './directory.ts';
import type { NamedEntry } from './resolve-path.ts';

/** The maximum number of items in the list. A person cannot review a longer list. */
const MAX_ITEMS = 10_000;
/** The maximum depth of a directory in the list. Each level keeps one handle open. */
const MAX_DEPTH = 64;

export interface RemovalEntry {
  name: string;
  /** The path of the item, relative to the workspace, with `/`. */
  path: string;
  kind: 'file' | 'directory' | 'link' | 'other';
  bytes: number;
  /**
   * Identifies the file and its version. D2: if another value is read later, the file has changed or has been replaced.
   */
  mark: string;
  /** The entries of a directory, sorted by name. */
  holds: readonly RemovalEntry[];
}

/**
 * Returns the entry with everything below it.
 * @throws ProductError TOO_LARGE if a person cannot review so many items
 * @throws ProductError OUTSIDE_WORKSPACE if the list would contain the server's state directory
 */
export async function readRemovalTree(
  { directory, name, path, info }: NamedEntry,
  signal: AbortSignal,
): Promise<RemovalEntry> {
  return itemAt(directory, { name, path, info }, { depth: 0, left: { items: MAX_ITEMS }, signal });
}

/** Returns an item and everything in it. A directory comes before its content. */
export function withDescendants(item: RemovalEntry): RemovalEntry[] {
  return [item, ...item.holds.flatMap(withDescendants)];
}

/** Returns one hash for an item and everything in it. */
export function removalHash(item: RemovalEntry): string {
  const hash = createHash('sha256');
  // A path contains no NUL, so different lists give different hash input.
  for (const { path, mark } of withDescendants(item)) hash.update(`${path}\0${mark}\0`);
  return hash.digest('hex');
}

interface RemovalWalk {
  depth: number;
  /** The number of further items that the list may have. */
  left: { items: number };
  signal: AbortSignal;
}

async function itemAt(
  directory: Directory,
  { name, path, info }: { name: string; path: string; info: BigIntStats },
  walk: RemovalWalk,
): Promise<RemovalEntry> {
  walk.signal.throwIfAborted();
  walk.left.items -= 1;
  if (walk.left.items < 0 || walk.depth > MAX_DEPTH) throw tooMuch(path);
  const kind = kindOf(info);
  const item = {
    name,
    path,
    kind,
    bytes: kind === 'directory' ? 0 : Number(info.size),
    mark: removalFingerprint(info),
  };
  if (kind !== 'directory') return { ...item, holds: [] };
  // `child` throws if the directory is barred. X2: so no tool can move or delete a directory above a barred one.
  const opened = await directory.child(name);
  try {
    return { ...item, holds: await heldBy(opened, path, { ...walk, depth: walk.depth + 1 }) };
  } finally {
    await opened.close();
  }
}

async function heldBy(directory: Directory, path: string, walk: RemovalWalk): Promise<RemovalEntry[]> {
  const names: string[] = [];
  await directory.confirm();
  for await (const { name } of await opendir(directory.at('.'), { bufferSize: 256 })) {
    if (names.length === walk.left.items) throw tooMuch(path);
    names.push(name);
  }
  await directory.confirm();
  const items: RemovalEntry[] = [];
  for (const name of names.toSorted()) {
    const info = await lstat(directory.at(name), { bigint: true });
    items.push(await itemAt(directory, { name, path: `${path}/${name}`, info }, walk));
  }
  return items;
}

function kindOf(info: BigIntStats): RemovalEntry['kind'] {
  if (info.isFile()) return 'file';
  if (info.isDirectory()) return 'directory';
  return info.isSymbolicLink() ? 'link' : 'other';
}

/**
 * Returns the file's identity, size and times. A program can set the modification time (mtime) but not the change time
 * (ctime). A directory needs only its identity, because the list has its entries.
 */
export function removalFingerprint(info: BigIntStats): string {
  const identity = `${kindOf(info)} ${info.dev} ${info.ino}`;
  return info.isDirectory() ? identity : `${identity} ${info.size} ${info.mtimeNs} ${info.ctimeNs}`;
}

function tooMuch(path: string): ProductError {
  return new ProductError(
    'TOO_LARGE',
    `"${path}" holds more than ${MAX_ITEMS} files, or is nested deeper than ${MAX_DEPTH} directories. Work on a part of it, or use a shell command.`,
  );
}

/**
 * What a name in the workspace stands for, with all that is below it: what a person is shown before it is moved or
 * deleted, and the marks by which each part of it is known again (D2). No link is followed, neither the last one nor any
 * below (X2): what is named is the link.
 */
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { ProductError } from '../../../shared/errors.ts';
import type { Directory } from './directory.ts';
import type { NamedEntry } from './place.ts';

/** More than this is not for a person to judge; each level of depth holds one open handle. */
const MAX_ITEMS = 10_000;
const MAX_DEPTH = 64;

export interface Item {
  name: string;
  /** Relative to the workspace, with `/`. */
  path: string;
  kind: 'file' | 'directory' | 'link' | 'other';
  bytes: number;
  /** Another mark: it has changed, or is another, by the system's own account. */
  mark: string;
  /** What a directory holds, by name. */
  holds: readonly Item[];
}

/** @throws ProductError TOO_LARGE for more than a person could look through; OUTSIDE_WORKSPACE for the server's own state. */
export async function survey(
  { directory, name, path, info }: NamedEntry,
  signal: AbortSignal,
): Promise<Item> {
  return itemAt(directory, { name, path, info }, { depth: 0, left: { items: MAX_ITEMS }, signal });
}

/** An item and all it holds: a directory before what is in it. */
export function itemsOf(item: Item): Item[] {
  return [item, ...item.holds.flatMap(itemsOf)];
}

/** One mark for an item and all it holds. */
export function basisOf(item: Item): string {
  const hash = createHash('sha256');
  // A path holds no NUL, so that no other list of items reads the same.
  for (const { path, mark } of itemsOf(item)) hash.update(`${path}\0${mark}\0`);
  return hash.digest('hex');
}

interface Walk {
  depth: number;
  /** How many more there may be. */
  left: { items: number };
  signal: AbortSignal;
}

async function itemAt(
  directory: Directory,
  { name, path, info }: { name: string; path: string; info: BigIntStats },
  walk: Walk,
): Promise<Item> {
  walk.signal.throwIfAborted();
  walk.left.items -= 1;
  if (walk.left.items < 0 || walk.depth > MAX_DEPTH) throw tooMuch(path);
  const kind = kindOf(info);
  const item = { name, path, kind, bytes: kind === 'directory' ? 0 : Number(info.size), mark: markOf(info) };
  if (kind !== 'directory') return { ...item, holds: [] };
  // A barred directory refuses to be entered, and so cannot be taken along (X2).
  const opened = await directory.child(name);
  try {
    return { ...item, holds: await heldBy(opened, path, { ...walk, depth: walk.depth + 1 }) };
  } finally {
    await opened.close();
  }
}

async function heldBy(directory: Directory, path: string, walk: Walk): Promise<Item[]> {
  const names: string[] = [];
  await directory.confirm();
  for await (const { name } of await opendir(directory.at('.'), { bufferSize: 256 })) {
    if (names.length === walk.left.items) throw tooMuch(path);
    names.push(name);
  }
  await directory.confirm();
  const items: Item[] = [];
  for (const name of names.toSorted()) {
    const info = await lstat(directory.at(name), { bigint: true });
    items.push(await itemAt(directory, { name, path: `${path}/${name}`, info }, walk));
  }
  return items;
}

function kindOf(info: BigIntStats): Item['kind'] {
  if (info.isFile()) return 'file';
  if (info.isDirectory()) return 'directory';
  return info.isSymbolicLink() ? 'link' : 'other';
}

/**
 * A program can set the time at which content was changed, but not that at which the file itself was. A directory is known
 * by its identity: what has come into it or gone shows in what it holds.
 */
export function markOf(info: BigIntStats): string {
  const identity = `${kindOf(info)} ${info.dev} ${info.ino}`;
  return info.isDirectory() ? identity : `${identity} ${info.size} ${info.mtimeNs} ${info.ctimeNs}`;
}

function tooMuch(path: string): ProductError {
  return new ProductError(
    'TOO_LARGE',
    `"${path}" holds more than ${MAX_ITEMS} files, or is nested deeper than ${MAX_DEPTH} directories; take a part of it, or use a shell command.`,
  );
}

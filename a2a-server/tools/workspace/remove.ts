/**
 * Deletes what was surveyed, and nothing else: each name is removed only while it is the very thing the survey saw, and a
 * directory only once it is empty. What somebody adds meanwhile is never taken along (D2), and no link is followed (X2).
 *
 * Between the last look at a name and unlink(2) another process can still put something else in its place. No system call
 * compares and unlinks.
 */
import { lstat, rmdir, unlink } from 'node:fs/promises';
import { ProductError } from '../../../shared/errors.ts';
import type { Directory } from './directory.ts';
import { codeOf } from './file-failure.ts';
import type { NamedEntry } from './place.ts';
import { changed } from './replace-file.ts';
import { basisOf, markOf, survey, type Item } from './survey.ts';

export interface Removal {
  /** Also what a directory holds. */
  recursive: boolean;
  /** The mark of what was shown; null where nobody was shown anything. */
  basis: string | null;
  signal: AbortSignal;
  /** Told of each item that is gone. */
  onRemoved: (item: Item) => void;
}

/** @throws ProductError INPUT_CHANGED when it is not what `basis` says; Error for a directory that is not empty. */
export async function removeEntry(entry: NamedEntry, removal: Removal): Promise<void> {
  const found = await survey(entry, removal.signal);
  refuseFull(found, removal.recursive);
  if (removal.basis !== null && removal.basis !== basisOf(found)) throw changed(found.path);
  await remove(entry.directory, found, removal);
  await entry.directory.sync();
}

/** A directory that holds anything is deleted only where that was said. */
export function refuseFull({ path, kind, holds }: Item, recursive: boolean): void {
  if (kind === 'directory' && holds.length > 0 && !recursive)
    throw new Error(`"${path}" is a directory and not empty; set recursive to delete it with all it holds.`);
}

async function remove(directory: Directory, item: Item, removal: Removal): Promise<void> {
  const { name, path, kind, holds } = item;
  if (holds.length > 0) {
    const child = await directory.child(name);
    try {
      for (const held of holds) await remove(child, held, removal);
    } finally {
      await child.close();
    }
  }
  removal.signal.throwIfAborted();
  await directory.confirm();
  const now = await lstat(directory.at(name), { bigint: true });
  if (markOf(now) !== item.mark) throw changedMeanwhile(path);
  await (kind === 'directory' ? removeDirectory(directory, item) : unlink(directory.at(name)));
  removal.onRemoved(item);
}

async function removeDirectory(directory: Directory, { name, path }: Item): Promise<void> {
  await rmdir(directory.at(name)).catch((error: unknown) => {
    if (codeOf(error) === 'ENOTEMPTY' || codeOf(error) === 'EEXIST') throw changedMeanwhile(path);
    throw error;
  });
}

function changedMeanwhile(path: string): ProductError {
  return new ProductError(
    'INPUT_CHANGED',
    `"${path}" has changed while it was about to be deleted; it was left alone.`,
    { facts: { path } },
  );
}

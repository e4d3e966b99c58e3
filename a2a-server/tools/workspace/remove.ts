/**
 * Deletes exactly the listed entries. Deletes an entry only if it is unchanged, and a directory only if it is empty.
 * D2: so a file that another process adds, and no person has seen, stays. X2: follows no link.
 *
 * Another process can still replace an entry between the last check and unlink(2), because no system call compares and
 * unlinks.
 */
import { lstat, rmdir, unlink } from 'node:fs/promises';
import { ProductError, errorCode } from '../../../shared/runtime/errors.ts';
import type { Directory } from './directory.ts';
import type { NamedEntry } from './resolve-path.ts';
import { inputChangedError } from './replace-file.ts';
import { removalHash, removalFingerprint, readRemovalTree, type RemovalEntry } from './removal-tree.ts';

export interface RemovalOptions {
  /** True to delete a directory with its content. */
  recursive: boolean;
  /** The hash of the entries in the preview. Null if there was no preview. */
  basis: string | null;
  signal: AbortSignal;
  onRemoved: (item: RemovalEntry) => void;
}

/**
 * Deletes the entry and, if `recursive` is true, everything in it.
 * @throws ProductError INPUT_CHANGED if the entry no longer matches `basis`
 * @throws Error if the directory is not empty and `recursive` is false
 */
export async function removeWorkspaceEntry(entry: NamedEntry, removal: RemovalOptions): Promise<void> {
  const found = await readRemovalTree(entry, removal.signal);
  refuseNonEmptyDirectory(found, removal.recursive);
  if (removal.basis !== null && removal.basis !== removalHash(found)) throw inputChangedError(found.path);
  await remove(entry.directory, found, removal);
  await entry.directory.sync();
}

/** Refuses a directory that is not empty. @throws Error unless `recursive` is true */
export function refuseNonEmptyDirectory({ path, kind, holds }: RemovalEntry, recursive: boolean): void {
  if (kind === 'directory' && holds.length > 0 && !recursive)
    throw new Error(
      `"${path}" is a directory and not empty; set recursive to delete it with everything in it.`,
    );
}

async function remove(directory: Directory, item: RemovalEntry, removal: RemovalOptions): Promise<void> {
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
  if (removalFingerprint(now) !== item.mark) throw changedMeanwhile(path);
  await (kind === 'directory' ? removeDirectory(directory, item) : unlink(directory.at(name)));
  removal.onRemoved(item);
}

async function removeDirectory(directory: Directory, { name, path }: RemovalEntry): Promise<void> {
  await rmdir(directory.at(name)).catch((error: unknown) => {
    if (errorCode(error) === 'ENOTEMPTY' || errorCode(error) === 'EEXIST') throw changedMeanwhile(path);
    throw error;
  });
}

function changedMeanwhile(path: string): ProductError {
  return new ProductError(
    'INPUT_CHANGED',
    `"${path}" changed just before its deletion, so it was not deleted. Read it again.`,
    { facts: { path } },
  );
}

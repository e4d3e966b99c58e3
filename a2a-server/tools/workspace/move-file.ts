/**
 * Moves a regular file within the workspace; its content, permissions and times stay. A move never overwrites a file:
 * link(2) creates the new name and fails if the name exists. After link(2), the old name is removed. A crash can leave
 * the file under both names. On a file system without hard links it checks the new name and then calls rename(2).
 *
 * D2: it compares the file with its mark right before the move. Another process can still replace the file before the
 * next system call. No system call compares and renames.
 */
import { lstat, rename, unlink } from 'node:fs/promises';
import type { Directory } from './directory.ts';
import type { NamedEntry, ResolvedPath } from './resolve-path.ts';
import { inputChangedError, renameNoReplace, withParents } from './replace-file.ts';
import { removalHash, entryMark, listForRemoval } from './list-for-removal.ts';

export interface Move {
  /** The hash from the preview; null if there was no preview. */
  basis: string | null;
  signal: AbortSignal;
}

/**
 * @throws ProductError INPUT_CHANGED if the file no longer matches `basis`; Error if it cannot move or the name is
 * taken
 */
export async function moveFile(
  source: NamedEntry,
  target: ResolvedPath,
  { basis, signal }: Move,
): Promise<void> {
  const free = requireMovable(source, target);
  const found = await listForRemoval(source, signal);
  if (basis !== null && basis !== removalHash(found)) throw inputChangedError(source.path);
  await withParents(free, async (directory) => {
    await source.directory.confirm();
    await directory.confirm();
    const now = await lstat(source.directory.at(source.name), { bigint: true });
    if (entryMark(now) !== found.mark) throw inputChangedError(source.path);
    // After this point the move cannot stop.
    signal.throwIfAborted();
    await giveName(source, directory, free);
    await directory.sync();
    await source.directory.sync();
  });
}

/** @returns the target. @throws Error for anything but a regular file, and for a name that is taken */
export function requireMovable(
  { path, info }: Pick<NamedEntry, 'path' | 'info'>,
  target: ResolvedPath,
): Extract<ResolvedPath, { kind: 'missing' }> {
  if (info.isDirectory())
    throw new Error(`"${path}" is a directory; move its files one by one, or use a shell command.`);
  if (!info.isFile())
    throw new Error(`"${path}" is not a regular file (a link, pipe, socket or device); use a shell command.`);
  if (target.kind === 'missing') return target;
  throw new Error(
    target.kind === 'directory'
      ? `"${target.path}" is a directory; give the full new path, for example "${target.path}/${path.split('/').at(-1) ?? path}".`
      : `There is already a "${target.path}"; delete it first, or choose another name.`,
  );
}

async function giveName(
  source: NamedEntry,
  directory: Directory,
  { name, path }: { name: string; path: string },
): Promise<void> {
  const from = source.directory.at(source.name);
  const to = directory.at(name);
  if (await renameNoReplace(from, to, path)) await unlink(from);
  else await rename(from, to);
}

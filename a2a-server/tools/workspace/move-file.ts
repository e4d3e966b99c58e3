/**
 * Moves a regular file within the workspace. Its content, permissions and times stay. A move never overwrites a file,
 * because link(2) fails if the new name exists. After link(2), the code removes the old name. A crash between the two
 * calls leaves both names. If the file system has no hard links, the code checks that the new name is free and calls
 * rename(2).
 *
 * D2: an approval is valid only for the file that the person saw. So right before the move, the code compares the file
 * with `basis`, the hash from the preview. Another process can still replace the file before the next system call,
 * because no system call compares and renames.
 */
import { lstat, rename, unlink } from 'node:fs/promises';
import type { Directory } from './directory.ts';
import type { NamedEntry, ResolvedPath } from './resolve-path.ts';
import { inputChangedError, tryHardLink, withCreatedParents } from './replace-file.ts';
import { removalHash, removalFingerprint, readRemovalTree } from './removal-tree.ts';

export interface MoveOptions {
  /** The hash of the file in the preview. Null if there was no preview. */
  basis: string | null;
  signal: AbortSignal;
}

/**
 * Moves the file and creates missing directories.
 * @throws ProductError INPUT_CHANGED if the file no longer matches `basis`
 * @throws Error if the file cannot move or the new name exists
 */
export async function moveFile(
  source: NamedEntry,
  target: ResolvedPath,
  { basis, signal }: MoveOptions,
): Promise<void> {
  const free = requireMovableFile(source, target);
  const found = await readRemovalTree(source, signal);
  if (basis !== null && basis !== removalHash(found)) throw inputChangedError(source.path);
  await withCreatedParents(free, async (directory) => {
    await source.directory.confirm();
    await directory.confirm();
    const now = await lstat(source.directory.at(source.name), { bigint: true });
    if (removalFingerprint(now) !== found.mark) throw inputChangedError(source.path);
    // An abort cannot stop the move after this line.
    signal.throwIfAborted();
    await giveName(source, directory, free);
    await directory.sync();
    await source.directory.sync();
  });
}

/**
 * Checks that the file can move to the target. Returns the target.
 * @throws Error if the source is not a regular file, or if the new name exists
 */
export function requireMovableFile(
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
  if (await tryHardLink(from, to, path)) await unlink(from);
  else await rename(from, to);
}

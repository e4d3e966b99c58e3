/**
 * Gives a regular file another name in the workspace, with its content, permissions and times as they are. Nothing is
 * written over: the new name is given with link(2), which refuses one that exists, and the old one is taken away after it,
 * so that a crash leaves the file under both names at worst. Where the file system has no hard links, rename(2) follows a
 * last look.
 *
 * D2: the file is compared with its mark right before; between that look and the next system call another process can
 * still put something else under the old name. No system call compares and renames.
 */
import { lstat, rename, unlink } from 'node:fs/promises';
import type { Directory } from './directory.ts';
import type { NamedEntry, Place } from './place.ts';
import { changed, linked, withParents } from './replace-file.ts';
import { basisOf, markOf, survey } from './survey.ts';

export interface Move {
  /** The mark of what was shown; null where nobody was shown anything. */
  basis: string | null;
  signal: AbortSignal;
}

/** @throws ProductError INPUT_CHANGED when the file is not what `basis` says; Error for what cannot be moved, or a name that is taken. */
export async function moveFile(source: NamedEntry, target: Place, { basis, signal }: Move): Promise<void> {
  const free = movable(source, target);
  const found = await survey(source, signal);
  if (basis !== null && basis !== basisOf(found)) throw changed(source.path);
  await withParents(free, async (directory) => {
    await source.directory.confirm();
    await directory.confirm();
    const now = await lstat(source.directory.at(source.name), { bigint: true });
    if (markOf(now) !== found.mark) throw changed(source.path);
    // From here on the move is done, not to be stopped.
    signal.throwIfAborted();
    await giveName(source, directory, free);
    await directory.sync();
    await source.directory.sync();
  });
}

/** @returns the place for it. @throws Error for what is no regular file, and for a name that is taken. */
export function movable(
  { path, info }: Pick<NamedEntry, 'path' | 'info'>,
  target: Place,
): Extract<Place, { kind: 'missing' }> {
  if (info.isDirectory())
    throw new Error(`"${path}" is a directory; move its files one by one, or use a shell command.`);
  if (!info.isFile())
    throw new Error(`"${path}" is not a regular file (a link, pipe, socket or device); use a shell command.`);
  if (target.kind === 'missing') return target;
  throw new Error(
    target.kind === 'directory'
      ? `"${target.path}" is a directory; give the whole new name, as in "${target.path}/${path.split('/').at(-1) ?? path}".`
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
  if (await linked(from, to, path)) await unlink(from);
  else await rename(from, to);
}

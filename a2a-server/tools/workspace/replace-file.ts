/**
 * Puts a whole new content in a file's place, or nothing at all.
 *
 * The content goes to a new file beside the old one, is made durable, and takes the name in one step: a reader sees the
 * old or the new, a crash leaves the old or the new (and at worst a stray `.….tmp`). A new inode also means that a hard
 * link to a file outside the workspace is replaced, never written through (X2).
 *
 * D2: the file is compared with the basis after everything slow is done, right before it is named. A new file is named
 * with link(2), which refuses a name that exists, so there no window is left; between the last look at an *existing*
 * file and rename(2) another process can still write it, and its change is lost. No system call compares and renames.
 */
import { randomUUID } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';
import { link, mkdir, rename, unlink, type FileHandle } from 'node:fs/promises';
import { ProductError } from '../../../shared/errors.ts';
import type { Directory } from './directory.ts';
import { codeOf, isADirectory } from './file-failure.ts';
import type { Place } from './place.ts';
import { ABSENT, currentBasis, notRegular } from './text-file.ts';

export interface Replacement {
  content: string | Uint8Array;
  /** Permissions of a file that is not there yet, as in chmod(2); what the system gives a new file if left out. */
  mode?: number;
  /** The hash of what the new content was made from, or ABSENT. */
  basis: string;
  signal: AbortSignal;
}

/** @throws ProductError INPUT_CHANGED when the file is not what `basis` says. */
export async function replaceFile(place: Place, replacement: Replacement): Promise<void> {
  switch (place.kind) {
    case 'directory':
      throw isADirectory(place.path);
    case 'entry':
      if (!place.info.isFile()) throw notRegular(place.path);
      if (replacement.basis === ABSENT) throw changed(place.path);
      return put(place.directory, place, replacement);
    case 'missing':
      if (replacement.basis !== ABSENT) throw changed(place.path);
      return withParents(place, (directory) => put(directory, place, replacement));
  }
}

/** Makes the directories on the way to a place and lends the last of them. */
export async function withParents(
  place: Extract<Place, { kind: 'missing' }>,
  use: (directory: Directory) => Promise<void>,
): Promise<void> {
  const made: Directory[] = [];
  try {
    let directory = place.directory;
    for (const name of place.parents) {
      await directory.confirm();
      await mkdir(directory.at(name)).catch((error: unknown) => {
        // Somebody else has just made it; whether it is a directory is seen when it is opened.
        if (codeOf(error) !== 'EEXIST') throw error;
      });
      await directory.sync();
      directory = await directory.child(name);
      made.push(directory);
    }
    await use(directory);
  } finally {
    await Promise.all(made.map((directory) => directory.close()));
  }
}

interface Target {
  path: string;
  name: string;
  info?: BigIntStats;
}

async function put(directory: Directory, target: Target, replacement: Replacement): Promise<void> {
  // Of one length, so that the longest name a file can have can still be written.
  const temporary = `.${randomUUID()}.tmp`;
  const handle = await directory.file(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
    target.info === undefined ? 0o666 : 0o600,
  );
  try {
    try {
      await handle.writeFile(replacement.content, { signal: replacement.signal });
      if (target.info !== undefined) await adopt(handle, target.info);
      else if (replacement.mode !== undefined) await handle.chmod(replacement.mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await giveName(directory, { ...target, temporary }, replacement);
  } catch (error) {
    await unlink(directory.at(temporary)).catch((failure: unknown) => {
      // Once it has its name it is no longer there under the other.
      if (codeOf(failure) !== 'ENOENT') throw failure;
    });
    throw error;
  }
  await directory.sync();
}

/** Gives the new file the old one's permissions and, where the system allows it, its owner. */
async function adopt(handle: FileHandle, old: BigIntStats): Promise<void> {
  const now = await handle.stat({ bigint: true });
  if (now.uid !== old.uid || now.gid !== old.gid) {
    await handle.chown(Number(old.uid), Number(old.gid)).catch((error: unknown) => {
      // Only root may give files away; a file that was writable for us is then ours from here on.
      if (codeOf(error) !== 'EPERM') throw error;
    });
  }
  await handle.chmod(Number(old.mode & 0o777n));
}

async function giveName(
  directory: Directory,
  { name: finalName, path, temporary }: Target & { temporary: string },
  { basis, signal }: Replacement,
): Promise<void> {
  if ((await currentBasis(directory, { name: finalName, path })) !== basis) throw changed(path);
  // From here on the write is done, not to be stopped.
  signal.throwIfAborted();
  await directory.confirm();
  if (basis === ABSENT && (await linked(directory.at(temporary), directory.at(finalName), path))) {
    await unlink(directory.at(temporary));
    return;
  }
  await rename(directory.at(temporary), directory.at(finalName));
}

/**
 * Gives a file another name, unless something has it. @returns false where the file system has no hard links; the name is
 * then taken by rename after all.
 * @throws ProductError INPUT_CHANGED for a name that is taken
 */
export async function linked(from: string, to: string, path: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code === 'EEXIST') throw changed(path);
    if (['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) return false;
    throw error;
  }
}

export function changed(path: string): ProductError {
  return new ProductError(
    'INPUT_CHANGED',
    `"${path}" has changed since the change to it was shown; nothing was written. Read it again and ask anew.`,
    { facts: { path } },
  );
}

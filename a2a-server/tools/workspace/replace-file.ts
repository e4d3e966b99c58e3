/**
 * Replaces the whole content of a file, or changes nothing.
 *
 * `replaceWorkspaceFile` writes a new file in the same directory, makes the new file durable, and renames it in one
 * step. So a reader sees the old or the new content, even after a crash. A crash can leave a `.….tmp` file. X2: if the
 * old name is a hard link to a file outside the workspace, the rename does not write to that file.
 *
 * D2: a change applies only to the content that the person saw. So `replaceWorkspaceFile` compares the file with
 * `basis` (a hash of that content) after all slow work, right before the rename. A new file has no race, because
 * link(2) fails if the name exists. For an existing file, another process can still write between the check and
 * rename(2). That write is then lost, because no system call compares and renames.
 */
import { randomUUID } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';
import { link, mkdir, rename, unlink, type FileHandle } from 'node:fs/promises';
import { ProductError, errorCode } from '../../../shared/runtime/errors.ts';
import type { Directory } from './directory.ts';
import { pathIsDirectoryError } from './file-failure.ts';
import type { ResolvedPath } from './resolve-path.ts';
import {
  ABSENT_FILE_BASIS,
  notRegularFileError,
  readFileBytes,
  readCurrentBasis,
  type FileContent,
} from './text-file.ts';

export interface ReplaceFileOptions {
  content: string | Uint8Array;
  /** Permissions of a new file, as in chmod(2). The default is the system's default. */
  mode?: number;
  /** The hash of the content that the change started from. `ABSENT_FILE_BASIS` if the file did not exist. */
  basis: string;
  signal: AbortSignal;
  /** Gets the file that matched `basis`, before anything is written. If it throws, nothing is written. */
  beforeChange?: (found: FileToReplace) => Promise<void>;
}

/** `content` is undefined if there is no file yet. */
interface FileToReplace {
  /** Relative to the workspace, with `/`. Links are resolved. */
  path: string;
  content: FileContent | undefined;
}

/**
 * Creates or replaces the file. Returns its path, relative to the workspace.
 * @throws ProductError INPUT_CHANGED if the file no longer matches `basis`
 */
export async function replaceWorkspaceFile(
  place: ResolvedPath,
  replacement: ReplaceFileOptions,
): Promise<string> {
  const { path } = place;
  const { basis, beforeChange } = replacement;
  switch (place.kind) {
    case 'directory':
      throw pathIsDirectoryError(path);
    case 'entry': {
      if (!place.info.isFile()) throw notRegularFileError(path);
      if (basis === ABSENT_FILE_BASIS) throw inputChangedError(path);
      const content = await readFileBytes(place.directory, place);
      if (content.hash !== basis) throw inputChangedError(path);
      await beforeChange?.({ path, content });
      await writeAndRename(place.directory, place, replacement);
      return path;
    }
    case 'missing':
      if (basis !== ABSENT_FILE_BASIS) throw inputChangedError(path);
      await beforeChange?.({ path, content: undefined });
      await withCreatedParents(place, (directory) => writeAndRename(directory, place, replacement));
      return path;
  }
}

/** Creates the missing parent directories and calls `use` with the last one. */
export async function withCreatedParents(
  place: Extract<ResolvedPath, { kind: 'missing' }>,
  use: (directory: Directory) => Promise<void>,
): Promise<void> {
  const made: Directory[] = [];
  try {
    let directory = place.directory;
    for (const name of place.parents) {
      await directory.confirm();
      await mkdir(directory.at(name)).catch((error: unknown) => {
        // If the name exists now, another process has just created it. `child` below checks that it is a directory.
        if (errorCode(error) !== 'EEXIST') throw error;
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

async function writeAndRename(
  directory: Directory,
  target: Target,
  replacement: ReplaceFileOptions,
): Promise<void> {
  // The temporary name has a fixed length. So it is valid even if `name` has the maximum length.
  const temporary = `.${randomUUID()}.tmp`;
  const handle = await directory.file(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
    target.info === undefined ? 0o666 : 0o600,
  );
  try {
    try {
      await handle.writeFile(replacement.content, { signal: replacement.signal });
      if (target.info !== undefined) await copyPermissions(handle, target.info);
      else if (replacement.mode !== undefined) await handle.chmod(replacement.mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await giveName(directory, { ...target, temporary }, replacement);
  } catch (error) {
    await unlink(directory.at(temporary)).catch((failure: unknown) => {
      // After the rename, the temporary name no longer exists.
      if (errorCode(failure) !== 'ENOENT') throw failure;
    });
    throw error;
  }
  await directory.sync();
}

/** Copies the permissions of the old file and, if the system allows it, the owner. */
async function copyPermissions(handle: FileHandle, old: BigIntStats): Promise<void> {
  const now = await handle.stat({ bigint: true });
  if (now.uid !== old.uid || now.gid !== old.gid) {
    await handle.chown(Number(old.uid), Number(old.gid)).catch((error: unknown) => {
      // Only root may change the owner of a file. For other users, this error is ignored, and the new file belongs to
      // the server's user.
      if (errorCode(error) !== 'EPERM') throw error;
    });
  }
  await handle.chmod(Number(old.mode & 0o777n));
}

async function giveName(
  directory: Directory,
  { name: finalName, path, temporary }: Target & { temporary: string },
  { basis, signal }: ReplaceFileOptions,
): Promise<void> {
  const from = directory.at(temporary);
  const to = directory.at(finalName);
  if (basis === ABSENT_FILE_BASIS) {
    // link(2) refuses a name that exists, so the code need not compare the content first.
    signal.throwIfAborted();
    await directory.confirm();
    if (await tryHardLink(from, to, path)) return unlink(from);
  }
  if ((await readCurrentBasis(directory, { name: finalName, path })) !== basis) throw inputChangedError(path);
  // An abort cannot stop the write after this line.
  signal.throwIfAborted();
  await directory.confirm();
  await rename(from, to);
}

/**
 * Gives a file another name, unless the name exists.
 * @returns false if the file system has no hard links; the caller then uses rename
 * @throws ProductError INPUT_CHANGED if the name exists
 */
export async function tryHardLink(from: string, to: string, path: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (code === 'EEXIST') throw inputChangedError(path);
    if (['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) return false;
    throw error;
  }
}

export function inputChangedError(path: string): ProductError {
  return new ProductError(
    'INPUT_CHANGED',
    `"${path}" has changed since the preview; nothing was written. Read it again and repeat the call.`,
    { facts: { path } },
  );
}

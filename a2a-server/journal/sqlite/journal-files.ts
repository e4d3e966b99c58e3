import { chmodSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { createPrivateFile } from '../../../shared/sqlite/private-file.ts';

/**
 * Creates missing directories with mode 0700 and a missing file with mode 0600. The umask does not change these modes.
 * SQLite gives the `-wal` and `-shm` files the mode of the database file.
 *
 * This function never opens an existing file. If a process closes a file, it loses all its POSIX locks on that file.
 * @returns the real path, which is the same for every symlink to the file
 * @throws ProductError STORAGE
 */
export function prepareJournalFile(path: string): string {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    createPrivateFile(path);
    return realpathSync(path);
  } catch (error) {
    throw placeError(path, error);
  }
}

/** Takes an existing file's permissions away from other users. @throws ProductError STORAGE */
export function makeFilePrivate(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    throw placeError(path, error);
  }
}

function placeError(path: string, cause: unknown): ProductError {
  return new ProductError(
    'STORAGE',
    `The journal ${path} cannot be created or opened: ${errorMessageOf(cause)}. Choose a path in a directory this user may write to.`,
    { cause },
  );
}

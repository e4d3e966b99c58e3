/** Creates the journal's directory and files, readable by their owner only. */
import { chmodSync, closeSync, mkdirSync, openSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, ProductError } from '../../../shared/errors.ts';

/**
 * Creates missing directories with mode 0700 and an empty file with mode 0600. SQLite gives the `-wal` and `-shm` files the
 * mode of the database file, whatever the umask is.
 *
 * This function never opens an existing file: closing any descriptor of a file drops all POSIX locks of this process on it.
 * @returns the real path. It is the same for every symlink to the file.
 * @throws ProductError STORAGE
 */
export function preparePlace(path: string): string {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    createPrivately(path);
    return realpathSync(path);
  } catch (error) {
    throw placeError(path, error);
  }
}

/** Removes the rights of other users on an existing journal file. @throws ProductError STORAGE */
export function makePrivate(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    throw placeError(path, error);
  }
}

/** Creates an empty file that only its owner can read. Does not change an existing file. */
export function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** It checks the member, not the class: a Node error may come from another realm. */
function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

function placeError(path: string, cause: unknown): ProductError {
  return new ProductError(
    'STORAGE',
    `The journal ${path} cannot be created or opened: ${messageOf(cause)}. Choose a path in a directory this user may write to.`,
    { cause },
  );
}

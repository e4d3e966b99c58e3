/** Where a journal lies on disk: its directory and its files are for their owner's eyes alone. */
import { chmodSync, closeSync, mkdirSync, openSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, ProductError } from '../../../shared/errors.ts';

/**
 * Creates what is missing: directories with mode 0700, an empty file with 0600. SQLite gives the `-wal` and `-shm` files
 * the mode of the database file, so no umask can open them.
 *
 * An existing file is never opened here: closing any descriptor of a file drops all POSIX locks this process has on it.
 * @returns the real path, the same for every symlink to it.
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

/** Takes from an existing journal file the rights that others may have on it. @throws ProductError STORAGE */
export function makePrivate(path: string): void {
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    throw placeError(path, error);
  }
}

/** Creates an empty file that only its owner may read; leaves an existing one alone. */
export function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/** By its member, not by its class: an error of Node's own need not be of this realm. */
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

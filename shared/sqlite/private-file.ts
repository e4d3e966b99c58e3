/**
 * Only the owner may read the database files. SQLite gives the `-wal` and `-shm` files the mode of the database file.
 */
import { closeSync, openSync } from 'node:fs';
import { systemErrorCode } from '../runtime/errors.ts';

/**
 * Creates an empty file with mode 0600, whatever the umask is. Does nothing if the file exists. It does not open an
 * existing file: closing any descriptor of a file drops all POSIX locks that this process has on the file.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  }
}

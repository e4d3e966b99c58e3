/** Database files are for their owner's eyes alone. SQLite gives the `-wal` and `-shm` files the mode of the database file. */
import { closeSync, openSync } from 'node:fs';
import { systemErrorCode } from '../runtime/errors.ts';

/**
 * Creates an empty file that only its owner may read, with mode 0600 whatever the umask is; leaves an existing one alone. An
 * existing file is not opened: closing any descriptor of a file drops all POSIX locks this process has on it.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  }
}

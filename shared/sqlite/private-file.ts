import { closeSync, openSync } from 'node:fs';
import { systemErrorCode } from '../runtime/errors.ts';

/**
 * Creates an empty file with mode 0600, independent of the umask. SQLite gives the `-wal` and `-shm` files the same
 * mode. Does nothing if the file exists. Does not open an existing file. A close of any descriptor of that file would
 * release all POSIX locks that this process has on it.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  }
}

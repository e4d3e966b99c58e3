import { closeSync, openSync } from 'node:fs';
import { errorCode } from '../runtime/errors.ts';

/**
 * Creates an empty file with mode 0600, whatever the umask is. SQLite then gives the `-wal` and `-shm` files the same
 * mode. Does nothing if the file exists. In particular, this function does not open an existing file. When a process
 * closes any descriptor of a file, the process loses all its POSIX locks on that file.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/**
 * Creates the journal's directory and files, readable by their owner only, and allows one process per journal.
 *
 * The owner holds an exclusive lock on a small file beside the journal. The kernel releases it
 * when the process ends in any way, so the lock is never stale. Other programs can still read the journal, e.g. for a
 * backup with `sqlite3 … .backup`.
 */
import { chmodSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { openSqlite, SqliteFailure } from '../../../shared/sqlite/driver.ts';
import { createPrivateFile } from '../../../shared/sqlite/private-file.ts';
import { JournalInUse } from '../journal.ts';

/** A process that is just ending may need this long to release the lock. Milliseconds. */
const PATIENCE_MS = 500;

/**
 * Creates missing directories with mode 0700 and an empty file with mode 0600. SQLite gives the `-wal` and `-shm` files the
 * mode of the database file, whatever the umask is.
 *
 * This function never opens an existing file: closing any descriptor of a file drops all POSIX locks of this process on it.
 * @returns the real path. It is the same for every symlink to the file.
 * @throws ProductError STORAGE
 */
export function prepareJournalDirectory(path: string): string {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    createPrivateFile(path);
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

/**
 * @param path the real path of the journal
 * @returns a function that releases the lock
 * @throws JournalInUse if a process, even this one, already uses the journal
 */
export function lockJournal(path: string): () => void {
  const ownerPath = `${path}.owner`;
  createPrivateFile(ownerPath);
  const lock = openSqlite(ownerPath, { busyTimeoutMs: PATIENCE_MS });
  try {
    // In memory: the lock file gets no content and no rollback journal.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
  } catch (error) {
    lock.close();
    if (error instanceof SqliteFailure && error.code.startsWith('SQLITE_BUSY'))
      throw new JournalInUse(path, error);
    throw error;
  }
  return () => lock.close();
}

function placeError(path: string, cause: unknown): ProductError {
  return new ProductError(
    'STORAGE',
    `The journal ${path} cannot be created or opened: ${messageOf(cause)}. Choose a path in a directory this user may write to.`,
    { cause },
  );
}

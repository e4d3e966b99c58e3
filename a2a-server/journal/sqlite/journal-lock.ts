/**
 * Allows one process per journal. The owner holds an exclusive lock on a small file beside the journal. The kernel releases it
 * when the process ends in any way, so the lock is never stale. Other programs can still read the journal, e.g. for a
 * backup with `sqlite3 … .backup`.
 */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { openSqlite, SqliteFailure } from '../../../shared/sqlite/driver.ts';
import { createPrivately } from '../../../shared/sqlite/private-file.ts';

/** A process that is just ending may need this long to release the lock. Milliseconds. */
const PATIENCE_MS = 500;

/**
 * @param path the real path of the journal
 * @returns a function that releases the lock
 * @throws ProductError CONFIGURATION if a process, even this one, already uses the journal
 */
export function lockJournal(path: string): () => void {
  const ownerPath = `${path}.owner`;
  createPrivately(ownerPath);
  const lock = openSqlite(ownerPath, { busyTimeoutMs: PATIENCE_MS });
  try {
    // In memory: the lock file gets no content and no rollback journal.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
  } catch (error) {
    lock.close();
    if (error instanceof SqliteFailure && error.code.startsWith('SQLITE_BUSY')) {
      throw new ProductError(
        'CONFIGURATION',
        `Another a2a-server already uses the journal ${path}. Use that server, stop it first, or choose another state directory for this one.`,
        { cause: error },
      );
    }
    throw error;
  }
  return () => lock.close();
}

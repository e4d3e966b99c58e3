/**
 * One process per journal. The owner holds an exclusive lock on a small file beside it for as long as it lives; the
 * kernel lets go of it when the process ends, however it ends, so the lock is never stale. The journal itself stays
 * readable for others, e.g. for a backup with `sqlite3 … .backup`.
 */
import { ProductError } from '../../../shared/errors.ts';
import { openSqlite, SqliteFailure } from './driver.ts';
import { createPrivately } from './place.ts';

/** A process that was just told to end may still be letting go, in milliseconds. */
const PATIENCE_MS = 500;

/**
 * @param path the real path of the journal
 * @returns how to let go
 * @throws ProductError CONFIGURATION when another process, or this one, uses the journal already
 */
export function own(path: string): () => void {
  const ownerPath = `${path}.owner`;
  createPrivately(ownerPath);
  const lock = openSqlite(ownerPath, { busyTimeoutMs: PATIENCE_MS });
  try {
    // In memory: nothing is ever written, so that there is no rollback journal to leave behind.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
  } catch (error) {
    lock.close();
    if (error instanceof SqliteFailure && error.code.startsWith('SQLITE_BUSY')) {
      throw new ProductError(
        'CONFIGURATION',
        `Another a2a-server already uses the journal ${path}. Use that server, end it first, or give this one another journal.`,
        { cause: error },
      );
    }
    throw error;
  }
  return () => lock.close();
}

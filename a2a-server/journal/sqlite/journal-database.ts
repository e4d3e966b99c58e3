/** Opens the database file of a journal. */
import { openSqlite, type Sqlite } from '../../../shared/sqlite/driver.ts';

/**
 * The time in milliseconds that a statement waits for the lock of another program, e.g. of a backup. A writer needs the
 * lock only for a few milliseconds.
 */
const BUSY_TIMEOUT_MS = 5_000;

/** @throws SqliteError */
export function openJournalDatabase(path: string): Sqlite {
  return openSqlite(path, { busyTimeoutMs: BUSY_TIMEOUT_MS });
}

/** Runs `work` on the database at `path`, and then closes the database. @throws SqliteError */
export function withJournalDatabase<Result>(path: string, work: (database: Sqlite) => Result): Result {
  const database = openJournalDatabase(path);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

import { SqliteError, type Sqlite } from './driver.ts';

/** The number of attempts. Only connections that open a new database at the same time need a second one. */
const MAX_ATTEMPTS = 10;

/**
 * Sets the journal mode to WAL, so that readers never wait. Sets the durability to FULL, so that a commit survives a
 * power loss. The caller must call this function before it creates the first table.
 *
 * If another connection has a lock, SQLite does not wait for the busy timeout: it immediately refuses to change the
 * journal mode. So this function waits until it gets the write lock, and then tries again.
 * @throws SqliteError
 */
export function switchToWriteAheadLog(database: Sqlite): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
      return;
    } catch (error) {
      const isBusy = error instanceof SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!isBusy || attempt === MAX_ATTEMPTS) throw error;
    }
    database.transaction(() => undefined);
  }
}

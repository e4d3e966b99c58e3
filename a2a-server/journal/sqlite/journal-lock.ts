/**
 * Allows one process per journal (E1).
 *
 * - The owner holds an exclusive lock on a small file next to the journal. When the process ends in any way, the kernel
 *   releases the lock. So the lock is never stale. Other programs can still read the journal, e.g. for a backup with
 *   `sqlite3 … .backup`.
 * - A person or a clean-up program may delete the lock file while the owner runs. So the journal itself also names its
 *   owner: the process, and the identity of the journal's file. A copy of the file has another identity.
 */
import { statSync } from 'node:fs';
import { openSqlite, SqliteFailure, type Sqlite } from '../../../shared/sqlite/driver.ts';
import { createPrivateFile } from '../../../shared/sqlite/private-file.ts';
import { withStorageErrors } from '../../../shared/sqlite/storage-error.ts';
import { processIdentityOf } from '../../processes/process-identity.ts';
import { JournalInUse } from '../journal.ts';
import { integerColumn, textColumn } from './columns.ts';

/** The time that an ending process may need to release the lock, in milliseconds. */
const PATIENCE_MS = 500;

export interface JournalLock {
  /**
   * Call this before each write. If the lock file was deleted or replaced, this locks the new lock file.
   * @throws JournalInUse if another process has locked the new file. Then this process must not write.
   */
  hold(): void;
  release(): void;
}

/**
 * @param path the real path of the journal
 * @throws JournalInUse if a process, even this one, already uses the journal
 */
export function lockJournal(path: string): JournalLock {
  const ownerPath = `${path}.owner`;
  let lock = lockFile(ownerPath, path);
  return {
    hold() {
      if (fileIdentity(ownerPath) === lock.identity) return;
      const next = lockFile(ownerPath, path);
      lock.database.close();
      lock = next;
    },
    release: () => lock.database.close(),
  };
}

function lockFile(ownerPath: string, path: string): { database: Sqlite; identity: string | undefined } {
  createPrivateFile(ownerPath);
  const database = openSqlite(ownerPath, { busyTimeoutMs: PATIENCE_MS });
  try {
    // With a journal in memory, the lock file gets no content and no rollback journal.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
    return { database, identity: fileIdentity(ownerPath) };
  } catch (error) {
    database.close();
    if (error instanceof SqliteFailure && error.code.startsWith('SQLITE_BUSY'))
      throw new JournalInUse(path, error);
    throw error;
  }
}

/** Returns the identity of a file. Undefined if the file does not exist. */
function fileIdentity(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

/**
 * Checks the owner that the journal names, because someone may have deleted the lock file.
 * @throws JournalInUse if that owner still runs, even if the owner is this process
 */
export async function requireNoOwner(database: Sqlite, path: string): Promise<void> {
  const file = fileIdentity(path) ?? '';
  const [row] = withStorageErrors(path, () => database.query('SELECT pid, started, boot, file FROM owner')());
  if (row !== undefined && textColumn(row[3]) === file) {
    const owner = { pid: integerColumn(row[0]), started: textColumn(row[1]), boot: textColumn(row[2]) };
    const now = await processIdentityOf(owner.pid);
    if (now?.started === owner.started && now.boot === owner.boot)
      throw new JournalInUse(path, new Error(`process ${owner.pid} uses it, and its lock file was deleted`));
  }
}

/**
 * Enters this process as the owner.
 * @returns a function that removes the entry
 * @throws JournalInUse as `requireNoOwner`
 */
export async function claimJournal(database: Sqlite, path: string): Promise<() => void> {
  await requireNoOwner(database, path);
  const file = fileIdentity(path) ?? '';
  const own = await processIdentityOf(process.pid);
  withStorageErrors(path, () =>
    database.transaction(() => {
      database.command('DELETE FROM owner')();
      // Windows does not give the start time of a process. But it protects an open lock file from deletion.
      if (own)
        database.command('INSERT INTO owner VALUES (1, ?, ?, ?, ?)')(own.group, own.started, own.boot, file);
    }),
  );
  return () => {
    try {
      database.exec('DELETE FROM owner');
    } catch (error) {
      // The disk may be full. The entry can stay, because the entry of an ended process has no effect.
      if (!(error instanceof SqliteFailure)) throw error;
    }
  };
}

/**
 * Lets only one process use a journal. E1: a task has at most one execution.
 *
 * - The owner has an exclusive lock on a small file next to the journal. When the process ends in any way, the kernel
 *   releases the lock. Other programs can still read the journal, e.g. for a backup with `sqlite3 … .backup`.
 * - A person may delete the lock file while the owner runs. The journal itself therefore names its owner too. Its table
 *   `owner` contains the process and the identity of the journal's file. A copy of the journal's file has another
 *   identity, so the copy has no owner.
 */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { newFileProblem } from '../../../shared/runtime/file-problem.ts';
import { openSqlite, SqliteError, type Sqlite } from '../../../shared/sqlite/driver.ts';
import { createPrivateFile } from '../../../shared/sqlite/private-file.ts';
import { fileIdentity } from '../../../shared/sqlite/same-file-check.ts';
import { withStorageErrors } from '../../../shared/sqlite/storage-error.ts';
import { readProcessIdentity } from '../../processes/process-identity.ts';
import { JournalInUseError } from '../journal.ts';
import { integerColumn, textColumn } from '../validate-column-values.ts';

/** The time limit for the lock at the start. An ending process may need this time to release it. */
const START_TIMEOUT_MS = 500;

export interface JournalLock {
  /**
   * Keeps the lock. Must be called before each write. If the lock file was deleted or replaced, locks the new lock
   * file.
   * @throws JournalInUseError if another process has locked the new file. This process must not write then.
   * @throws ProductError STORAGE if the new file cannot be created
   */
  hold(): void;
  release(): void;
}

/**
 * @param path the real path of the journal
 * @throws JournalInUseError if a process already uses the journal, even if it is this process
 */
export function lockJournal(path: string): JournalLock {
  const ownerPath = `${path}.owner`;
  let lock = lockFile(ownerPath, path, START_TIMEOUT_MS);
  return {
    hold() {
      if (fileIdentity(ownerPath) === lock.identity) return;
      // This call blocks all requests, so it does not wait for another process.
      const next = lockFile(ownerPath, path, 0);
      lock.database.close();
      lock = next;
    },
    release: () => lock.database.close(),
  };
}

function lockFile(
  ownerPath: string,
  path: string,
  busyTimeoutMs: number,
): { database: Sqlite; identity: string | undefined } {
  try {
    createPrivateFile(ownerPath);
  } catch (error) {
    throw new ProductError(
      'STORAGE',
      `The lock file ${ownerPath} cannot be created: ${newFileProblem(error)}. Nothing was stored. Make its directory writable for this user, then try again.`,
      { facts: { path: ownerPath }, cause: error },
    );
  }
  const database = openSqlite(ownerPath, { busyTimeoutMs });
  try {
    // The rollback journal is in memory, so the lock is a single file without content.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
    return { database, identity: fileIdentity(ownerPath) };
  } catch (error) {
    database.close();
    if (error instanceof SqliteError && error.code.startsWith('SQLITE_BUSY'))
      throw new JournalInUseError(path, error);
    throw error;
  }
}

/**
 * Checks the owner that the journal names. This also works if the lock file was deleted.
 * @throws JournalInUseError if that owner still runs, even if it is this process
 */
export async function requireNoJournalOwner(database: Sqlite, path: string): Promise<void> {
  const file = fileIdentity(path) ?? '';
  const [row] = withStorageErrors(path, () => database.query('SELECT pid, started, boot, file FROM owner')());
  if (row !== undefined && textColumn(row[3]) === file) {
    const owner = { pid: integerColumn(row[0]), started: textColumn(row[1]), boot: textColumn(row[2]) };
    const now = await readProcessIdentity(owner.pid);
    if (now?.started === owner.started && now.boot === owner.boot)
      throw new JournalInUseError(
        path,
        new Error(`process ${owner.pid} uses it, and its lock file was deleted`),
      );
  }
}

/**
 * Records this process as the owner.
 * @returns a function that removes this record
 * @throws JournalInUseError if the recorded owner still runs
 */
export async function claimJournal(database: Sqlite, path: string): Promise<() => void> {
  await requireNoJournalOwner(database, path);
  const file = fileIdentity(path) ?? '';
  const own = await readProcessIdentity(process.pid);
  withStorageErrors(path, () =>
    database.transaction(() => {
      database.command('DELETE FROM owner')();
      // On Windows, `own` is undefined, and no owner is recorded. No record is needed there, because Windows prevents
      // the deletion of an open lock file.
      if (own)
        database.command('INSERT INTO owner VALUES (1, ?, ?, ?, ?)')(own.group, own.started, own.boot, file);
    }),
  );
  return () => {
    try {
      database.exec('DELETE FROM owner');
    } catch (error) {
      // The removal may fail, for example on a full disk. The record can stay, because an ended process is no owner.
      if (!(error instanceof SqliteError)) throw error;
    }
  };
}

/**
 * Stores the journal in one SQLite file. `docs/decisions/sqlite-journal.md` gives the reasons for WAL, group commit,
 * and one process per file. `synchronous = FULL` keeps J1: an entry that a reader has seen survives a power loss.
 */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { createSingleServerOwnership } from '../ownership.ts';
import { GroupCommit } from '../../../shared/sqlite/group-commit.ts';
import type { Journal } from '../journal.ts';
import { EMPTY_PAGE } from '../journal-page.ts';
import { createJournalQueries } from '../journal-queries.ts';
import { COMMIT_LIMIT, isStorableText, prepareAppend, type PreparedAppend } from '../prepared-append.ts';
import { CommittedEntries, type OnAppended } from '../committed-entries.ts';
import { requirePositive } from '../require-positive.ts';
import { Appender } from './appender.ts';
import { Compactor } from './compactor.ts';
import { CostTable } from './cost-table.ts';
import type { Sqlite } from '../../../shared/sqlite/driver.ts';
import { createSameFileCheck } from '../../../shared/sqlite/same-file-check.ts';
import { EventRowReader } from './event-rows.ts';
import { SessionDeletion } from './delete-sessions.ts';
import { openJournalDatabase } from './journal-database.ts';
import { makeFilePrivate, prepareJournalFile } from './journal-files.ts';
import { claimJournal, lockJournal, type JournalLock } from './journal-lock.ts';
import {
  copyWriteAheadLog,
  journalLossError,
  detectLostCommits,
  detectTruncatedJournalFile,
} from './journal-loss.ts';
import { LastCommitsWriter, readLastCommits } from './last-commits-file.ts';
import { migrate } from './schema.ts';
import { storageError, withStorageErrors } from '../../../shared/sqlite/storage-error.ts';
import { createSqliteReader, SQLITE_DIALECT } from './sqlite-dialect.ts';
import { WrittenAmountsTable } from './written-table.ts';

export interface SqliteJournalOptions {
  /** The path of the database file. Missing directories are created with mode 0700, files with 0600. */
  path: string;
  /** Returns milliseconds since 1970. The time becomes the `at` of the entries. */
  clock: () => number;
  onAppended?: OnAppended;
}

/**
 * The time in milliseconds for which `reachable` returns false after a failed commit. A task that waits for the disk
 * tries to commit every five seconds, so `reachable` stays false while the disk is full. If nothing tries, the disk may
 * have space again after this time.
 */
const REFUSAL_MS = 30_000;

/**
 * Opens the journal and locks it until it is closed. After an error, no event has changed, but the tables may be
 * upgraded.
 * @throws ProductError STORAGE if the disk fails. CONFIGURATION if another a2a-server uses the file, if the file is not
 * a journal, or if its version is newer. CONFIGURATION also if the journal lacks entries that the last-commits file
 * names.
 */
export async function openSqliteJournal({ path, clock, onAppended }: SqliteJournalOptions): Promise<Journal> {
  const place = prepareJournalFile(path);
  const lock = withStorageErrors(place, () => lockJournal(place));
  let database: Sqlite | undefined;
  try {
    const before = readLastCommits(place);
    const opened = withStorageErrors(place, () => {
      const shortened = detectTruncatedJournalFile(place, before);
      if (shortened !== undefined) throw journalLossError(place, shortened);
      database = openJournalDatabase(place);
      migrate(database, place);
      const loss = detectLostCommits(database, before);
      if (loss !== undefined) throw journalLossError(place, loss, copyWriteAheadLog(place));
      makeFilePrivate(place);
      return database;
    });
    const disown = await claimJournal(opened, place);
    const requireSameFile = createSameFileCheck(place, { file: 'The journal', program: 'the server' });
    const requireOwnFiles = (): void =>
      withStorageErrors(place, () => {
        requireSameFile();
        lock.hold();
      });
    const mark = new LastCommitsWriter({ path: place, database: opened, before, requireOwnFiles });
    const parts = { lock, disown, clock, mark, requireOwnFiles, onAppended };
    return createSqliteJournal({ path: place, database: opened, ...parts });
  } catch (error) {
    database?.close();
    lock.release();
    throw error;
  }
}

interface OpenedJournal {
  path: string;
  database: Sqlite;
  lock: JournalLock;
  disown: () => void;
  clock: () => number;
  mark: LastCommitsWriter;
  /**
   * @throws ProductError STORAGE if the journal's file was deleted or replaced; JournalInUseError if another process has
   * locked the journal
   */
  requireOwnFiles: () => void;
  onAppended: OnAppended | undefined;
}

function createSqliteJournal(opened: OpenedJournal): Journal {
  const { path, database, lock, disown, clock, mark, requireOwnFiles } = opened;
  const committed = new CommittedEntries(opened.onAppended);
  const costs = new CostTable(database);
  const written = new WrittenAmountsTable(database);
  const reader = new EventRowReader(database);
  const deletion = new SessionDeletion(database, costs);
  const compaction = new Compactor(database);
  const appender = new Appender(database, { costs, written }, clock);
  const sqliteReader = createSqliteReader(database);
  const queries = createJournalQueries((question) => ask(() => question(sqliteReader)), SQLITE_DIALECT);
  const appends = new GroupCommit({
    commit: (group: readonly PreparedAppend[]) => {
      const outcomes = write(() => {
        try {
          const decided = appender.commit(group);
          refusedAt = undefined;
          return decided;
        } catch (error) {
          refusedAt = performance.now();
          throw error;
        }
      });
      // J1: the entries are durable, so watchers may see them.
      for (const { taskId, expectedSeq, bodies } of committed.publish(group, outcomes))
        mark.note(taskId, expectedSeq + bodies.length, expectedSeq === 0);
      return outcomes;
    },
    ...COMMIT_LIMIT,
  });
  /**
   * The time of the last commit that failed, e.g. on a full disk, as `performance.now()` gives it. Undefined after a
   * successful commit.
   */
  let refusedAt: number | undefined;
  let closed = false;

  async function ask<Answer>(question: () => Answer | Promise<Answer>): Promise<Answer> {
    requireOpen();
    try {
      return await question();
    } catch (error) {
      throw storageError(path, error);
    }
  }

  /** Runs a transaction that writes. @throws ProductError STORAGE, JournalInUseError as `requireOwnFiles` */
  function write<Result>(transaction: () => Result): Result {
    requireOwnFiles();
    return withStorageErrors(path, transaction);
  }

  function requireOpen(): void {
    if (closed) throw new ProductError('SHUTTING_DOWN', 'The server is shutting down. Try again later.');
  }

  return {
    ...queries,
    now: clock,
    ownership: createSingleServerOwnership(queries),
    async append(append) {
      requireOpen();
      return appends.add(prepareAppend(append));
    },
    async read(taskId, after, limit) {
      if (!isStorableText(taskId)) return [];
      return ask(
        () => committed.read(taskId, after, requirePositive(limit)) ?? reader.read(taskId, after, limit),
      );
    },
    async readPage(taskId, after) {
      if (!isStorableText(taskId)) return EMPTY_PAGE;
      return ask(() => committed.readPage(taskId, after) ?? reader.readPage(taskId, after));
    },
    async deleteEndedSessions(before, limit) {
      if (!(await ask(() => deletion.isDue(before)))) return 0;
      return mark.whileRemoving(() => {
        requireOpen();
        return write(() => {
          committed.forget();
          return deletion.forget(before, requirePositive(limit));
        });
      });
    },
    async maintain(limit) {
      requireOpen();
      return write(() => deletion.remove(requirePositive(limit)) || compaction.step(limit));
    },
    watch: (taskId, wake) => committed.watch(taskId, wake),
    /**
     * False while no append is accepted: the file was deleted or replaced, another process has locked the journal, or the
     * disk has just refused a commit.
     */
    reachable() {
      const refused = refusedAt !== undefined && performance.now() - refusedAt < REFUSAL_MS;
      if (closed || refused) return false;
      try {
        requireOwnFiles();
        return true;
      } catch {
        return false;
      }
    },
    /** Commits waiting appends and closes the file. Later calls reject with SHUTTING_DOWN. */
    async close() {
      if (closed) return;
      closed = true;
      appends.flush();
      committed.close();
      try {
        // The checkpoint runs here, because `close` alone would run none: the driver keeps the file open until its
        // statements are garbage-collected.
        withStorageErrors(path, () => {
          disown();
          database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE);');
        });
      } finally {
        await mark.close();
        database.close();
        lock.release();
      }
    },
  };
}

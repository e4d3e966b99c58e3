/**
 * Stores the journal in one SQLite file. `docs/decisions/sqlite-journal.md` gives the reasons for WAL, group commit,
 * and one process per file. `synchronous = FULL` keeps J1: an entry that a reader has seen survives a power loss.
 */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { createSingleServerOwnership } from '../ownership.ts';
import type { CostRow } from '../../task/costs/cost-sum.ts';
import type { DailyBudgetUse } from '../../task/costs/daily-budget.ts';
import type { JournalEntry } from '../../task/events.ts';
import { GroupCommit } from '../../../shared/sqlite/group-commit.ts';
import type {
  AppendRequest,
  AppendResult,
  CostFilter,
  Journal,
  JournalStatistics,
  RecordedCommand,
  OwnerFilter,
  JournalTaskFilter,
  TaskFilterValues,
  TaskPage,
  TaskPageRequest,
  TaskRow,
} from '../journal.ts';
import { COMMIT_LIMIT, isStorableText, prepareAppend, type PreparedAppend } from '../prepared-append.ts';
import { CommittedEntries, type OnAppended } from '../committed-entries.ts';
import { requirePositive } from '../require-positive.ts';
import { Appender } from './appender.ts';
import { Compactor } from './compactor.ts';
import { CostTable } from './cost-table.ts';
import { openSqlite, type Sqlite } from '../../../shared/sqlite/driver.ts';
import { createSameFileCheck } from '../../../shared/sqlite/same-file-check.ts';
import { EventRowReader } from './event-rows.ts';
import { SessionDeletion } from './delete-sessions.ts';
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
import { readStatistics } from './journal-statistics.ts';
import { withStorageErrors } from '../../../shared/sqlite/storage-error.ts';
import { TaskIndex } from './task-index.ts';
import { WrittenAmountsTable } from './written-table.ts';
import type { DailyWrittenByScope, WrittenAmount } from '../written-amounts.ts';

/** The time that a statement waits for the lock of another program, e.g. of a backup. */
const BUSY_TIMEOUT_MS = 5_000;

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
      database = openSqlite(place, { busyTimeoutMs: BUSY_TIMEOUT_MS });
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
    const parts = { path: place, database: opened, lock, disown, clock, mark, requireOwnFiles, onAppended };
    return new SqliteJournal(parts);
  } catch (error) {
    database?.close();
    lock.release();
    throw error;
  }
}

class SqliteJournal implements Journal {
  readonly #path: string;
  readonly #database: Sqlite;
  readonly #lock: JournalLock;
  readonly #disown: () => void;
  readonly #index: TaskIndex;
  readonly #costs: CostTable;
  readonly #written: WrittenAmountsTable;
  readonly #reader: EventRowReader;
  readonly #deletion: SessionDeletion;
  readonly #compaction: Compactor;
  readonly #appends: GroupCommit<PreparedAppend, AppendResult>;
  readonly #committed: CommittedEntries;
  readonly #mark: LastCommitsWriter;
  readonly #requireOwnFiles: () => void;
  readonly now: () => number;
  /**
   * The time of the last commit that failed, e.g. on a full disk, as `performance.now()` gives it. Undefined after a
   * commit.
   */
  #refusedAt: number | undefined;
  #closed = false;

  constructor(parts: {
    path: string;
    database: Sqlite;
    lock: JournalLock;
    disown: () => void;
    clock: () => number;
    mark: LastCommitsWriter;
    requireOwnFiles: () => void;
    onAppended: OnAppended | undefined;
  }) {
    this.#path = parts.path;
    this.#committed = new CommittedEntries(parts.onAppended);
    this.#mark = parts.mark;
    this.#requireOwnFiles = parts.requireOwnFiles;
    this.#database = parts.database;
    this.#lock = parts.lock;
    this.#disown = parts.disown;
    this.#index = new TaskIndex(parts.database);
    this.#costs = new CostTable(parts.database);
    this.#written = new WrittenAmountsTable(parts.database);
    this.#reader = new EventRowReader(parts.database);
    this.#deletion = new SessionDeletion(parts.database, this.#costs);
    this.#compaction = new Compactor(parts.database);
    this.now = parts.clock;
    const appender = new Appender(
      parts.database,
      { index: this.#index, costs: this.#costs, written: this.#written },
      parts.clock,
    );
    this.#appends = new GroupCommit({
      commit: (appends) => {
        const outcomes = this.#write(() => {
          try {
            const committed = appender.commit(appends);
            this.#refusedAt = undefined;
            return committed;
          } catch (error) {
            this.#refusedAt = performance.now();
            throw error;
          }
        });
        // J1: the entries are durable, so watchers may see them.
        for (const { taskId, expectedSeq, bodies } of this.#committed.publish(appends, outcomes))
          this.#mark.note(taskId, expectedSeq + bodies.length, expectedSeq === 0);
        return outcomes;
      },
      ...COMMIT_LIMIT,
    });
  }

  async append(append: AppendRequest): Promise<AppendResult> {
    this.#requireOpen();
    return this.#appends.add(prepareAppend(append));
  }

  async read(taskId: string, after: number, limit: number): Promise<JournalEntry[]> {
    if (!isStorableText(taskId)) return [];
    return this.#ask(
      () =>
        this.#committed.read(taskId, after, requirePositive(limit)) ??
        this.#reader.read(taskId, after, limit),
    );
  }

  async row(taskId: string): Promise<TaskRow | undefined> {
    return isStorableText(taskId) ? this.#ask(() => this.#index.row(taskId)) : undefined;
  }

  async rows(taskIds: readonly string[]): Promise<TaskRow[]> {
    return this.#ask(() => this.#index.rows(taskIds.filter(isStorableText)));
  }

  async command(principal: string, messageId: string): Promise<RecordedCommand | undefined> {
    return isStorableText(messageId) ? this.#ask(() => this.#index.command(principal, messageId)) : undefined;
  }

  async toolExecution(toolId: string): Promise<{ taskId: string; principal: string } | undefined> {
    return isStorableText(toolId) ? this.#ask(() => this.#index.toolExecution(toolId)) : undefined;
  }

  async content(taskId: string, hash: string): Promise<Uint8Array | undefined> {
    return isStorableText(taskId) ? this.#ask(() => this.#index.content(taskId, hash)) : undefined;
  }

  async withSavedFiles(principal: string): Promise<TaskRow[]> {
    return this.#ask(() => this.#index.withSavedFiles(principal));
  }

  async list(filter: JournalTaskFilter, page: TaskPageRequest): Promise<TaskPage> {
    requirePositive(page.size);
    return this.#ask(() => this.#index.list(filter, page));
  }

  async filterValues(owner: OwnerFilter): Promise<TaskFilterValues> {
    return this.#ask(() => this.#index.filterValues(owner));
  }

  async session(principal: string, sessionId: string): Promise<TaskRow[]> {
    return isStorableText(sessionId) ? this.#ask(() => this.#index.session(principal, sessionId)) : [];
  }

  async costs(filter: CostFilter): Promise<CostRow[]> {
    return isStorableText(filter.sessionId ?? '') ? this.#ask(() => this.#costs.rows(filter)) : [];
  }

  async dailyWritten(principal: string, day: number): Promise<DailyWrittenByScope> {
    return this.#ask(() => this.#written.daily(principal, day));
  }

  async taskSize(taskId: string): Promise<WrittenAmount> {
    return this.#ask(() => this.#written.ofTask(taskId));
  }

  async dailyUse(principal: string, day: number): Promise<DailyBudgetUse> {
    return this.#ask(() => this.#costs.dailyUse(principal, day));
  }

  readonly ownership = createSingleServerOwnership(this);

  async unsettled(): Promise<TaskRow[]> {
    return this.#ask(() => this.#index.unsettled());
  }

  async statistics(): Promise<JournalStatistics> {
    return this.#ask(() => readStatistics(this.#database));
  }

  async deadlines(limit: number): Promise<TaskRow[]> {
    return this.#ask(() => this.#index.deadlines(requirePositive(limit)));
  }

  async deleteEndedSessions(before: number, limit: number): Promise<number> {
    if (!this.#ask(() => this.#deletion.isDue(before))) return 0;
    return this.#mark.whileRemoving(() => {
      this.#requireOpen();
      return this.#write(() => {
        this.#committed.forget();
        return this.#deletion.forget(before, requirePositive(limit));
      });
    });
  }

  async maintain(limit: number): Promise<number> {
    this.#requireOpen();
    return this.#write(() => this.#deletion.remove(requirePositive(limit)) || this.#compaction.step(limit));
  }

  watch(taskId: string, wake: () => void): () => void {
    return this.#committed.watch(taskId, wake);
  }

  /**
   * False while no append is accepted: the file was deleted or replaced, another process has locked the journal, or the
   * disk has just refused a commit.
   */
  reachable(): boolean {
    const refused = this.#refusedAt !== undefined && performance.now() - this.#refusedAt < REFUSAL_MS;
    if (this.#closed || refused) return false;
    try {
      this.#requireOwnFiles();
      return true;
    } catch {
      return false;
    }
  }

  /** Commits waiting appends and closes the file. Later calls reject with SHUTTING_DOWN. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#appends.flush();
    this.#committed.close();
    try {
      // The checkpoint runs here, because `close` alone would run none: the driver keeps the file open until its
      // statements are garbage-collected.
      withStorageErrors(this.#path, () => {
        this.#disown();
        this.#database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE);');
      });
    } finally {
      await this.#mark.close();
      this.#database.close();
      this.#lock.release();
    }
  }

  #ask<Answer>(question: () => Answer): Answer {
    this.#requireOpen();
    return withStorageErrors(this.#path, question);
  }

  /**
   * Runs a transaction that writes.
   * @throws ProductError STORAGE if the journal's file was deleted or replaced; JournalInUseError if another process has
   * locked the journal
   */
  #write<Result>(transaction: () => Result): Result {
    this.#requireOwnFiles();
    return withStorageErrors(this.#path, transaction);
  }

  #requireOpen(): void {
    if (this.#closed)
      throw new ProductError('SHUTTING_DOWN', 'The server is shutting down. Try again later.');
  }
}

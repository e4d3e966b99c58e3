/**
 * Stores the journal in PostgreSQL. Several servers may use it at the same time (`postgres-ownership.ts`).
 * `docs/decisions/postgres-journal.md` gives the reasons.
 */
import { DEFAULT_BACK_OFF, type BackOffOptions } from '../../../shared/runtime/back-off.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { resultWithin } from '../../runtime/timeout.ts';
import type { JournalEntry } from '../../task/events.ts';
import { CommittedEntries, type OnAppended, type OnChangedElsewhere } from '../committed-entries.ts';
import type { Journal, TaskRow } from '../journal.ts';
import { EMPTY_PAGE, type JournalPage } from '../journal-page.ts';
import { createJournalQueries, findTaskRow } from '../journal-queries.ts';
import { COMMIT_LIMIT, isStorableText, prepareAppend } from '../prepared-append.ts';
import { requirePositive } from '../require-positive.ts';
import { Appender, type LimitedAppend, timeLimitError } from './appender.ts';
import { AppendQueue } from './append-queue.ts';
import { packNextEvents } from './compaction.ts';
import { utcDay } from '../../task/costs/cost-sum.ts';
import { DatabaseClock, readDatabaseTime } from './database-clock.ts';
import { databaseError, withDatabaseErrors } from './database-error.ts';
import { deleteSessions, hasSessionToDelete, removeRowsOfDeletedTask } from './delete-sessions.ts';
import { parseDatabaseUrl, openPostgresPool } from './driver.ts';
import { readEntries, readPage } from './event-reader.ts';
import { removeOldWrittenAmounts, takeMaintenanceLock } from './maintenance.ts';
import { PostgresOwnership } from './postgres-ownership.ts';
import { createPostgresRecordStore } from './postgres-records.ts';
import { createRetryingReader } from './retrying-reader.ts';
import { SharedReads } from './shared-reads.ts';
import { POSTGRES_DIALECT } from './postgres-dialect.ts';
import { JournalWakeChannel } from './wake-channel.ts';
import { PostgresWriterConnection } from './writer-connection.ts';

/** The maximum number of connections that read. One more connection writes. */
const MAX_READERS = 8;

/** The time limit for one request to the journal, in milliseconds. It includes the wait for a connection and all retries. */
const REQUEST_MS = 20_000;

export interface PostgresJournalOptions {
  /** The URL of the database, e.g. `postgres://user@host:5432/database`. It may contain a password. */
  url: string;
  /**
   * The URL for the connection that listens to notifications (`wake-channel.ts`), if `url` leads to a pooler that does
   * not deliver notifications.
   */
  listenUrl?: string | undefined;
  /**
   * Servers with the same label have the same directories. By default, a server has no label. All servers without a
   * label have the same directories too.
   */
  label?: string | undefined;
  /** Returns milliseconds since 1970, for tests. The default is the time of the database. */
  clock?: () => number;
  onAppended?: OnAppended;
  onChangedElsewhere?: OnChangedElsewhere;
  /**
   * Called once if the database has lost this server's row, one of its commits, or entries of a watched task. E1: this
   * server must stop its work, because another server may execute its tasks. S1: its readers have entries that no
   * longer exist.
   */
  onRemoved?: (error: Error) => void;
  /** The retries of reads and appends while the database is unreachable. By default, they take about 20 s. */
  backOff?: BackOffOptions;
  /** The time limit for one request to the journal, in milliseconds. */
  limitMs?: number;
}

/**
 * Opens the journal, and registers this server until the journal is closed. Creates or upgrades the tables.
 * @throws ProductError STORAGE if the database cannot be reached, or another server upgrades it. CONFIGURATION if the
 * database refuses the user, or if the version of PostgreSQL or of the journal does not fit.
 */
export async function openPostgresJournal({
  url,
  listenUrl = url,
  label,
  clock,
  onAppended,
  onChangedElsewhere = () => undefined,
  onRemoved = () => undefined,
  backOff = DEFAULT_BACK_OFF,
  limitMs = REQUEST_MS,
}: PostgresJournalOptions): Promise<Journal & Required<Pick<Journal, 'records'>>> {
  const address = parseDatabaseUrl(url);
  const writer = new PostgresWriterConnection(address, { label: label ?? null, onRemoved, backOff });
  try {
    await writer.open();
  } catch (error) {
    await writer.close();
    throw databaseError(address.label, error);
  }
  const pool = openPostgresPool(address, { most: MAX_READERS, waitMs: limitMs });
  const committed = new CommittedEntries(onAppended);
  const wakeUps = await connectWakeUps();
  const databaseClock = new DatabaseClock();
  const now = clock ?? (() => databaseClock.now());
  const appender = new Appender(writer, now);
  const ownership = new PostgresOwnership(address, {
    id: writer.id,
    label: label ?? null,
    clock: databaseClock,
    onClaimed: (taskId, epoch) => {
      appender.noteEpoch(taskId, epoch);
      committed.forgetTask(taskId);
    },
    // A database host that vanishes closes no connection. If the old connections stayed, each statement would wait for
    // its time limit, although a new connection might work.
    onLeaseLost: () => {
      writer.dropConnection();
      pool.drop();
    },
  });
  const appends = new AppendQueue({
    commit: async (group: readonly LimitedAppend[]) => {
      const outcomes = await appender.commit(group);
      const written = committed.publish(group, outcomes);
      wakeUps.send(
        new Map(written.map(({ taskId, expectedSeq, events }) => [taskId, expectedSeq + events.length])),
      );
      return outcomes;
    },
    ...COMMIT_LIMIT,
  });
  const closing = new AbortController();
  const reader = createRetryingReader(pool, { ...backOff, maxRetryTime: limitMs, signal: closing.signal });
  const queries = createJournalQueries((question) => ask(() => question(reader)), POSTGRES_DIALECT);
  const sharedEntries = new SharedReads<JournalEntry[]>();
  const sharedPages = new SharedReads<JournalPage>();
  const sharedRows = new SharedReads<TaskRow | undefined>();
  let closed: Promise<void> | undefined;

  async function connectWakeUps(): Promise<JournalWakeChannel> {
    const listenAddress = parseDatabaseUrl(listenUrl);
    try {
      return await JournalWakeChannel.open(listenAddress, {
        server: writer.id,
        clock: systemClock,
        reader: pool,
        committed,
        onChangedElsewhere,
        onLostEntries: (taskId) =>
          void writer.removed(new Error(`the database has lost entries of the task ${taskId}`)),
      });
    } catch (error) {
      await Promise.all([writer.close(), pool.close()]);
      throw databaseError(listenAddress.label, error);
    }
  }

  /** Adds the name of the database to errors of the work. */
  function named<Result>(work: () => Promise<Result>): Promise<Result> {
    return withDatabaseErrors(address.label, work);
  }

  /** @throws PostgresError TIMEOUT if the work takes longer than a request may take. The work itself continues. */
  async function limited<Result>(work: () => Promise<Result>): Promise<Result> {
    const answer = await resultWithin(
      systemClock,
      limitMs,
      work().then((result) => ({ result })),
    );
    if (answer === undefined) throw timeLimitError();
    return answer.result;
  }

  async function ask<Result>(work: () => Promise<Result>): Promise<Result> {
    requireOpen();
    return named(() => limited(work));
  }

  /** Runs the maintenance of the journal. No request waits for it, so it has no time limit as a whole. */
  async function maintain<Result>(work: () => Promise<Result>): Promise<Result> {
    requireOpen();
    return named(work);
  }

  function noteNewest(taskId: string, stored: readonly JournalEntry[]): void {
    const newest = stored.at(-1);
    if (newest !== undefined) committed.noteStored(taskId, newest);
  }

  function requireOpen(): void {
    if (closed !== undefined)
      throw new ProductError('SHUTTING_DOWN', 'The server is shutting down. Try again later.');
  }

  async function close(): Promise<void> {
    // E3: appends that were accepted are committed first.
    await appends.settled();
    ownership.close();
    wakeUps.close();
    committed.close();
    closing.abort();
    await writer.close();
    await pool.close();
  }

  try {
    await databaseClock.synchronize(() => named(() => readDatabaseTime(pool)));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...queries,
    ownership,
    now,
    async append(append) {
      requireOpen();
      const prepared = prepareAppend(append);
      const until = performance.now() + limitMs;
      return named(() => limited(() => appends.add({ ...prepared, until })));
    },
    async read(taskId, after, limit) {
      requirePositive(limit);
      requireOpen();
      if (!isStorableText(taskId)) return [];
      const cached = committed.read(taskId, after, limit);
      // If no entry is cached, the entries are read from the database, because another server may have appended some.
      if (cached?.length) return cached;
      const entries = await ask(() =>
        sharedEntries.read(`${after} ${limit} ${taskId}`, () =>
          readEntries(reader, taskId, { after, limit }),
        ),
      );
      noteNewest(taskId, entries);
      return entries;
    },
    async readPage(taskId, after) {
      requireOpen();
      if (!isStorableText(taskId)) return EMPTY_PAGE;
      const cached = committed.readPage(taskId, after);
      if (cached?.entries.length) return cached;
      const page = await ask(() =>
        sharedPages.read(`${after} ${taskId}`, () => readPage(reader, taskId, after)),
      );
      noteNewest(taskId, page.entries);
      return page;
    },
    async row(taskId) {
      const row = await ask(() => sharedRows.read(taskId, () => findTaskRow(reader, taskId)));
      // If another server has appended, the row is newer than the cached entries. A reader of the row must get the new
      // entries too.
      if (row !== undefined) committed.forgetBefore(taskId, row.seq);
      return row;
    },
    async rows(taskIds) {
      const rows = await queries.rows(taskIds);
      // As in `row`, a reader of a row must get its newest entries too.
      for (const { taskId, seq } of rows) committed.forgetBefore(taskId, seq);
      return rows;
    },
    deleteEndedSessions: (before, limit) =>
      maintain(async () => {
        requirePositive(limit);
        if (!(await hasSessionToDelete(reader, before))) return 0;
        try {
          return await writer.transaction(async (connection) =>
            (await takeMaintenanceLock(connection)) ? deleteSessions(connection, before, limit) : 0,
          );
        } finally {
          // The caches are dropped even after an error, because a commit whose answer is lost may have deleted the
          // tasks.
          appender.forget();
          committed.forget();
        }
      }),
    maintain: (limit) =>
      maintain(() =>
        writer.transaction(async (connection) => {
          if (!(await takeMaintenanceLock(connection))) return 0;
          await removeOldWrittenAmounts(connection, utcDay(now()));
          return (
            (await removeRowsOfDeletedTask(connection, requirePositive(limit))) ||
            packNextEvents(connection, limit)
          );
        }),
      ),
    records: createPostgresRecordStore((statement, values) => ask(() => reader.query(statement, values))),
    watch: (taskId, wake) => committed.watch(taskId, wake),
    reachable: () => writer.connected,
    close: () => (closed ??= close()),
  };
}

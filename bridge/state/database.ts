/**
 * The bridge's database: one SQLite file in the state directory. B5: all bridges and commands of a user share it. It
 * contains messages to deliver, results to announce, and records of actions that must not be repeated. Tasks are not in
 * it, because the agents own them.
 *
 * Invariants
 * - A write is durable when its method returns. A check and the write that depends on it are one transaction.
 * - The database is opened when a tool call first needs it, because the bridge must start fast.
 */
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import { GroupCommit } from '../../shared/sqlite/group-commit.ts';
import { openSqlite, type RunStatement, type RunQuery, type Sqlite } from '../../shared/sqlite/driver.ts';
import { createPrivateFile } from '../../shared/sqlite/private-file.ts';
import { createSameFileCheck } from '../../shared/sqlite/same-file-check.ts';
import { withStorageErrors } from '../../shared/sqlite/storage-error.ts';
import { prepareStateDirectory } from '../../shared/state/state-directory.ts';
import { databasePath } from './database-path.ts';
import { isProcessRunning, ownProcessId, type ProcessId } from './process-id.ts';
import { migrate } from './schema.ts';

/**
 * The maximum time in milliseconds for which a statement waits for the transaction of another bridge. A transaction
 * takes only a few milliseconds.
 */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * The queries of closed databases in which a delegation was still open. When the last connection to a database closes,
 * SQLite deletes the write-ahead log. But `mayEarlierBridgeHaveLeftWork` reads this log. libsql keeps a connection open
 * while its queries exist. So this list keeps the queries from the garbage collector until the process ends. The end of
 * the process deletes no log.
 */
const QUERIES_THAT_KEEP_THE_LOG: RunQuery[] = [];

/**
 * The maximum number of writes in one commit. It limits how long a commit blocks the event loop, to a few milliseconds.
 */
const MAX_WRITES_PER_COMMIT = 500;

const DATABASE_NAME = "The bridge's database";

export class BridgeDatabase {
  readonly path: string;
  /** The id of this process. It is the owner of the rows that it writes. */
  readonly owner: ProcessId;
  readonly #sqlite: Sqlite;
  readonly #requireSameFile: () => void;
  readonly #queries = new Map<string, RunQuery>();
  readonly #commands = new Map<string, RunStatement>();
  readonly #groupCommit: GroupCommit<() => void, void>;
  #inTransaction = false;
  /** The newest write of `inOneCommit`. Writes are done in order, so this one is done last. */
  #newest: Promise<void> = Promise.resolve();

  private constructor(path: string, owner: ProcessId, sqlite: Sqlite) {
    this.path = path;
    this.owner = owner;
    this.#sqlite = sqlite;
    this.#requireSameFile = createSameFileCheck(path, { file: DATABASE_NAME, program: 'the MCP client' });
    this.#groupCommit = new GroupCommit({
      commit: (group) => this.transaction(() => group.map((write) => ({ type: 'done', result: write() }))),
      weigh: () => 1,
      weightPerCommit: MAX_WRITES_PER_COMMIT,
    });
  }

  /**
   * Opens the database. If necessary, creates or migrates it.
   * @param owner the id of this process; a test may use several ids
   * @throws ProductError CONFIGURATION if the state directory or the file cannot be used; STORAGE if the file cannot be
   * opened or written, or is damaged
   */
  static async open(stateDirectory: string, owner?: ProcessId): Promise<BridgeDatabase> {
    await prepareStateDirectory(stateDirectory);
    const path = databasePath(stateDirectory);
    const self = owner ?? (await ownProcessId());
    const open = (): BridgeDatabase => {
      createPrivateFile(path);
      const sqlite = openSqlite(path, { busyTimeoutMs: BUSY_TIMEOUT_MS });
      try {
        migrate(sqlite, path);
      } catch (error) {
        sqlite.close();
        throw error;
      }
      return new BridgeDatabase(path, self, sqlite);
    };
    try {
      return withStorageErrors(path, open, DATABASE_NAME);
    } catch (error) {
      if (error instanceof ProductError) throw error;
      throw new ProductError(
        'STORAGE',
        `${DATABASE_NAME} ${path} cannot be created: ${errorMessageOf(error)}. Make its directory writable for this user, or choose another with --state-dir.`,
        { cause: error },
      );
    }
  }

  /** Runs a query and returns its rows. Each statement is prepared only once. @throws ProductError STORAGE */
  rows(sql: string, ...values: Parameters<RunQuery>): ReturnType<RunQuery> {
    return this.checked(() => {
      const query = this.#queries.get(sql) ?? this.#sqlite.query(sql);
      this.#queries.set(sql, query);
      return query(...values);
    });
  }

  /** Runs a statement that changes rows. Returns the number of changed rows. @throws ProductError STORAGE */
  run(sql: string, ...values: Parameters<RunStatement>): number {
    if (!this.#inTransaction) this.#requireSameFile();
    return this.checked(() => {
      const command = this.#commands.get(sql) ?? this.#sqlite.command(sql);
      this.#commands.set(sql, command);
      return command(...values);
    });
  }

  /**
   * Runs the work in a transaction: either all its writes are done or none, and no other bridge writes meanwhile.
   * Inside another transaction, the work becomes a part of that transaction.
   * @throws ProductError STORAGE
   */
  transaction<Result>(work: () => Result): Result {
    if (this.#inTransaction) return work();
    this.#requireSameFile();
    this.#inTransaction = true;
    try {
      return this.checked(() => this.#sqlite.transaction(work));
    } finally {
      this.#inTransaction = false;
    }
  }

  /**
   * Runs the write in one commit with other writes of the same few milliseconds, in their order. So several tool calls
   * that end at the same time need only one commit. Resolves when the write is durable.
   * @throws ProductError STORAGE. All writes of this commit are lost then.
   */
  inOneCommit(write: () => void): Promise<void> {
    const written = this.#groupCommit.add(write);
    this.#newest = written.catch(() => undefined);
    return written;
  }

  /** Resolves when all earlier writes of `inOneCommit` are durable or have failed. */
  written(): Promise<void> {
    return this.#newest;
  }

  /**
   * Runs the work, and converts an SQLite error or a damaged row to a ProductError that names the next step.
   * @throws ProductError STORAGE
   */
  checked<Result>(work: () => Result): Result {
    return withStorageErrors(this.path, work, DATABASE_NAME);
  }

  /** Deletes the rows of a table that are older than `olderThanMs` milliseconds. */
  forget(
    table: 'decision_claims' | 'webhook_posts' | 'cut_previews' | 'used_permits' | 'shown_entries',
    olderThanMs: number,
  ): void {
    this.run(`DELETE FROM ${table} WHERE at < ?`, Date.now() - olderThanMs);
  }

  /** Returns a number that changes when another connection commits a write. @throws ProductError STORAGE */
  version(): number {
    return Number(this.rows('PRAGMA data_version')[0]?.[0]);
  }

  /** Returns a text that changes with each write of this or of another connection. @throws ProductError STORAGE */
  changes(): string {
    return [...(this.rows('SELECT total_changes()')[0] ?? []), this.version()].join(' ');
  }

  /** Returns those owners whose process has ended. */
  async ended(owners: readonly ProcessId[]): Promise<readonly ProcessId[]> {
    const others = owners.filter((owner) => owner !== this.owner);
    const running = await Promise.all(others.map((owner) => isProcessRunning(owner)));
    return others.filter((_, at) => running[at] === false);
  }

  /**
   * Does all pending writes, and closes the database. If no delegation is open, also empties the write-ahead log. The
   * next bridge then need not open the database when it starts (`mayEarlierBridgeHaveLeftWork`). Otherwise the log
   * keeps its content.
   */
  close(): void {
    this.#groupCommit.flush();
    try {
      const [open] = this.rows(`SELECT 1 FROM delegations WHERE state IN ('sending', 'accepted') LIMIT 1`);
      if (open === undefined) this.rows('PRAGMA wal_checkpoint(TRUNCATE)');
      else QUERIES_THAT_KEEP_THE_LOG.push(...this.#queries.values());
    } catch {
      // After this error, the write-ahead log may keep its content. Then the next bridge opens the database when it
      // starts.
    }
    this.#queries.clear();
    this.#commands.clear();
    this.#sqlite.close();
  }
}

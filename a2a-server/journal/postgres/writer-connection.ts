/**
 * Manages the one connection of this server that writes the journal. Other servers may write at the same time.
 *
 * - Each server has a row in `nodes` with the end of its lease, and a row in `commits` with the number of its last
 *   commit.
 * - Only the upgrade of the tables needs a lock. The lock belongs to the connection, so PostgreSQL releases the lock at
 *   the latest when the connection ends.
 * - Pieces of work run one after another. A lost connection is opened again, with back-off.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import pRetry from 'p-retry';
import type { BackOffOptions } from '../../../shared/runtime/back-off.ts';
import { integerColumn } from '../validate-column-values.ts';
import { DatabaseInUseError, ServerRemovedError } from './database-error.ts';
import {
  CLOSE_TIMEOUT_MS,
  type PostgresConnection,
  type DatabaseAddress,
  isDatabaseUnavailable,
  openPostgresConnection,
  PostgresError,
} from './driver.ts';
import { migrate } from './schema.ts';

/** The key of the journal's advisory lock: "a2aj" in ASCII, and a number for the schema. */
const LOCK = '1630694762, hashtext(current_schema())';

/**
 * The retries to get the lock, for about 5.5 s. Another server has the lock while it upgrades the tables. A server of
 * version 1 has the lock until that server ends.
 */
const LOCK_BACK_OFF: BackOffOptions = {
  retries: 8,
  minTimeout: 100,
  maxTimeout: 1_000,
  factor: 2,
  randomize: false,
};

/**
 * A server that starts deletes the rows of all servers whose lease ended longer ago than this. A server that has lost
 * its row must be restarted.
 */
const FORGOTTEN_AFTER = "interval '1 day'";

/**
 * PostgreSQL detects a vanished server within about 15 s and then frees its connection. J1: `synchronous_commit` makes
 * each commit durable, even if the settings of the database switch it off.
 */
const SESSION = `
  SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 3; SET tcp_keepalives_count = 3;
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
`;

/** The pause between attempts to connect while the database is down. */
const RECONNECT_MS = 2_000;

interface WriterOptions {
  label: string | null;
  /** Called once if the database has lost the row or a commit of this server. */
  onRemoved: (error: Error) => void;
  /** How often and when work is retried while the database is unreachable. */
  backOff: BackOffOptions;
}

export class PostgresWriterConnection {
  readonly #address: DatabaseAddress;
  readonly #onRemoved: (error: Error) => void;
  readonly #backOff: BackOffOptions;
  readonly #label: string | null;
  readonly #id = randomUUID();
  readonly #closing = new AbortController();
  #connection: PostgresConnection | undefined;
  /** Aborts the attempt of `#connect`, which may hang. Undefined while there is none. */
  #opening: AbortController | undefined;
  /** True after the first connection, which registers this server. */
  #registered = false;
  /** True if the last attempts to connect have failed. */
  #unreachable = false;
  /** The error that ended this writer. Set when the database has lost the row or a commit of this server. */
  #lost: Error | undefined;
  #batch = 0;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(address: DatabaseAddress, { label, onRemoved, backOff }: WriterOptions) {
    this.#address = address;
    this.#label = label;
    this.#onRemoved = onRemoved;
    this.#backOff = backOff;
  }

  get id(): string {
    return this.#id;
  }

  /** The number of this server's last commit. */
  get batch(): number {
    return this.#batch;
  }

  get connected(): boolean {
    return this.#connection?.usable === true;
  }

  /**
   * Connects for the first time, upgrades the tables and registers this server. Does not wait for a database that is
   * down.
   * @throws DatabaseInUseError, ProductError CONFIGURATION, PostgresError
   */
  async open(): Promise<void> {
    await this.#connect();
  }

  /**
   * Runs work on the connection, after all earlier work.
   * @throws ServerRemovedError, PostgresError
   */
  run<Result>(work: (connection: PostgresConnection) => Promise<Result>): Promise<Result> {
    const result = this.#queue.then(async () => work(await this.#usableConnection()));
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** Runs work in one transaction, after all earlier work. @throws ServerRemovedError, PostgresError */
  transaction<Result>(work: (connection: PostgresConnection) => Promise<Result>): Promise<Result> {
    return this.run(async (connection) => {
      await connection.query({ text: 'BEGIN' });
      try {
        const result = await work(connection);
        await connection.query({ text: 'COMMIT' });
        return result;
      } catch (error) {
        if (connection.usable) await connection.query({ text: 'ROLLBACK' });
        throw error;
      }
    });
  }

  /** Records that the database has lost this server's row or a commit. No later work runs. Returns the error. */
  removed(cause: unknown): Error {
    if (this.#lost === undefined) {
      this.#lost = new ServerRemovedError(this.#address.label, cause);
      this.#onRemoved(this.#lost);
    }
    return this.#lost;
  }

  /** Ends the connection, which may hang. The current work then fails. Later work uses another connection. */
  dropConnection(): void {
    this.#opening?.abort();
    this.#connection?.drop();
  }

  noteBatch(batch: number): void {
    this.#batch = batch;
  }

  /** Ends the connection after the current work. Does not wait for a lost connection. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#opening?.abort();
    await this.#queue;
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection?.usable !== true) return;
    const stop = new AbortController();
    const limit = wait(CLOSE_TIMEOUT_MS, undefined, { signal: stop.signal });
    const removal = connection.query({ text: 'DELETE FROM nodes WHERE id = $1' }, [this.#id]);
    // If the removal of this server's row fails, the lease ends soon. A later server removes the row.
    await Promise.race([removal, limit]).catch(() => undefined);
    stop.abort();
    connection.close();
  }

  /**
   * Returns the connection. If the connection is lost, opens another. Retries this with back-off, unless the last
   * retries have failed.
   */
  async #usableConnection(): Promise<PostgresConnection> {
    if (this.#lost !== undefined) throw this.#lost;
    if (this.#connection?.usable === true) return this.#connection;
    try {
      const connection = await pRetry(async () => this.#connect(), {
        ...this.#backOff,
        // After one caller has retried without success, later callers do not retry.
        ...(this.#unreachable && { retries: 0 }),
        signal: this.#closing.signal,
        shouldRetry: ({ error }) => isDatabaseUnavailable(error),
      });
      this.#unreachable = false;
      return connection;
    } catch (error) {
      if (this.#closing.signal.aborted)
        throw new PostgresError('CONNECTION', 'the journal was closed before it had a connection', error);
      this.#unreachable = true;
      throw error;
    }
  }

  /** Connects again after a loss, even if nothing is to be written. So the server knows when the database is back. */
  async #reconnect(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        return await this.run(async () => undefined);
      } catch {
        if (this.#lost !== undefined) return;
        await wait(RECONNECT_MS, undefined, { signal: this.#closing.signal }).catch(() => undefined);
      }
    }
  }

  async #connect(): Promise<PostgresConnection> {
    const attempt = new AbortController();
    this.#opening = attempt;
    const prepare = async (opened: PostgresConnection): Promise<void> => {
      await opened.query({ text: SESSION });
      await (this.#registered ? this.#resume(opened) : this.#register(opened));
    };
    const connection = await openPostgresConnection(this.#address, prepare, attempt.signal).finally(
      () => (this.#opening = undefined),
    );
    this.#connection = connection;
    connection.onLost(() => void this.#reconnect());
    return connection;
  }

  /** Upgrades the tables under the lock of the journal, so that one server at a time does this. */
  async #migrate(connection: PostgresConnection): Promise<void> {
    const lock = async (): Promise<void> => {
      const [[locked] = []] = await connection.query({ text: `SELECT pg_try_advisory_lock(${LOCK})` });
      if (locked !== true) throw new LockHeldError('another connection has the lock');
    };
    try {
      await pRetry(lock, {
        ...LOCK_BACK_OFF,
        signal: this.#closing.signal,
        shouldRetry: ({ error }) => error instanceof LockHeldError,
      });
    } catch (error) {
      throw error instanceof LockHeldError ? new DatabaseInUseError(this.#address.label, error) : error;
    }
    await migrate(connection, this.#address.label);
    await connection.query({ text: `SELECT pg_advisory_unlock(${LOCK})` });
  }

  async #register(connection: PostgresConnection): Promise<void> {
    await this.#migrate(connection);
    await connection.query({
      text: `DELETE FROM nodes WHERE lease_until < clock_timestamp() - ${FORGOTTEN_AFTER}`,
    });
    const text = `
      WITH node AS (INSERT INTO nodes (id, lease_until, label) VALUES ($1, clock_timestamp(), $2) RETURNING id)
      INSERT INTO commits (server, batch) SELECT id, 0 FROM node`;
    await connection.query({ text }, [this.#id, this.#label]);
    this.#registered = true;
  }

  async #resume(connection: PostgresConnection): Promise<void> {
    // PostgreSQL may still execute a commit of the lost connection. That commit has a lock on this row, so this query
    // waits until that commit has ended.
    const text = 'SELECT batch FROM commits WHERE server = $1 FOR UPDATE';
    const [row] = await connection.query({ text }, [this.#id]);
    if (row === undefined) throw this.removed(new Error('the database has no row for this server'));
    const batch = integerColumn(row[0]);
    // J1: the caches of this server have entries that the database has lost, e.g. because an asynchronous standby has
    // become the primary.
    if (batch < this.#batch) throw this.removed(new Error('the database has lost commits of this server'));
    this.#batch = batch;
  }
}

/** Thrown if another connection has the lock of the journal. */
class LockHeldError extends Error {
  override readonly name = 'LockHeldError';
}

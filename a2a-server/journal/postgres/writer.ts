/**
 * The one connection that writes the journal. It has a lock in the database, so one server writes (E1).
 *
 * - The lock belongs to the connection. PostgreSQL releases it when the connection ends, in any way.
 * - Each server has a row in `servers`. A server that takes the lock removes the rows of others. A server that lost its
 *   connection therefore cannot write after another server has taken over.
 * - Work runs one piece after another. A lost connection is opened again, with back-off.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import pRetry from 'p-retry';
import type { BackOff } from '../../../shared/runtime/back-off.ts';
import { integerColumn } from '../columns.ts';
import { DatabaseInUse } from './database-error.ts';
import {
  CLOSE_MS,
  type Connection,
  type DatabaseAddress,
  isUnavailable,
  openConnection,
  PostgresFailure,
} from './driver.ts';
import { migrate } from './schema.ts';

/** Identifies the advisory locks of journals, "a2aj" in ASCII. The second number identifies the schema. */
const LOCK = '1630694762, hashtext(current_schema())';

/** The connection of an ended server may need this time to disappear. About 1.5 s in total. */
const LOCK_PATIENCE: BackOff = {
  retries: 4,
  minTimeout: 100,
  maxTimeout: 1_000,
  factor: 2,
  randomize: false,
};

/**
 * PostgreSQL detects a vanished server within about 15 s and then releases its lock. `synchronous_commit` keeps J1: a
 * database may have switched it off.
 */
const SESSION = `
  SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 3; SET tcp_keepalives_count = 3;
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
`;

/** The pause between attempts to connect while the database is down. */
const RECONNECT_MS = 2_000;

interface WriterOptions {
  /** Called once if another server has taken over the journal. */
  onTakenOver: (error: Error) => void;
  /** How long work waits for a lost database. */
  backOff: BackOff;
}

export class Writer {
  readonly #address: DatabaseAddress;
  readonly #onTakenOver: (error: Error) => void;
  readonly #backOff: BackOff;
  readonly #id = randomUUID();
  readonly #closing = new AbortController();
  #connection: Connection | undefined;
  /** The backend of the last connection. It may still have the lock if the network was cut. */
  #lastBackend: number | undefined;
  /** True after the first connection, which registers this server. */
  #registered = false;
  /** True if the last attempts to connect have failed. */
  #unreachable = false;
  /** Present if another server has taken over the journal. */
  #lost: Error | undefined;
  #batch = 0;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(address: DatabaseAddress, { onTakenOver, backOff }: WriterOptions) {
    this.#address = address;
    this.#onTakenOver = onTakenOver;
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
   * Connects for the first time, upgrades the tables and takes the lock. Does not wait for a database that is down.
   * @throws DatabaseInUse, ProductError CONFIGURATION, PostgresFailure
   */
  async open(): Promise<void> {
    await this.#connect();
  }

  /**
   * Runs work on the connection, after all earlier work.
   * @throws DatabaseInUse if another server has taken over; PostgresFailure
   */
  run<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    const result = this.#queue.then(async () => work(await this.#usable()));
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** Runs work in one transaction, after all earlier work. @throws DatabaseInUse, PostgresFailure */
  transaction<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
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

  /** Records that another server has taken over. No later work runs. Returns the error. */
  takenOver(cause: unknown): Error {
    if (this.#lost === undefined) {
      this.#lost = new DatabaseInUse(this.#address.label, cause);
      this.#onTakenOver(this.#lost);
    }
    return this.#lost;
  }

  noteBatch(batch: number): void {
    this.#batch = batch;
  }

  /** Ends the connection after the current work. Waiting for a lost connection ends at once. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#queue;
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection?.usable !== true) return;
    const stop = new AbortController();
    const limit = wait(CLOSE_MS, undefined, { signal: stop.signal });
    const removal = connection.query({ text: 'DELETE FROM servers WHERE id = $1' }, [this.#id]);
    // The next server removes the row too, if this one cannot.
    await Promise.race([removal, limit]).catch(() => undefined);
    stop.abort();
    connection.close();
  }

  /** Returns the connection. If it is lost, opens another, at first with back-off. */
  async #usable(): Promise<Connection> {
    if (this.#lost !== undefined) throw this.#lost;
    if (this.#connection?.usable === true) return this.#connection;
    try {
      const connection = await pRetry(async () => this.#connect(), {
        ...this.#backOff,
        // Once a caller has waited in vain, later callers get the error at once.
        ...(this.#unreachable && { retries: 0 }),
        signal: this.#closing.signal,
        shouldRetry: ({ error }) => isUnavailable(error) || error instanceof LockHeld,
      });
      this.#unreachable = false;
      return connection;
    } catch (error) {
      if (this.#closing.signal.aborted)
        throw new PostgresFailure('CONNECTION', 'the journal was closed before it had a connection', error);
      this.#unreachable = true;
      throw error instanceof LockHeld ? new DatabaseInUse(this.#address.label, error) : error;
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

  async #connect(): Promise<Connection> {
    const connection = await openConnection(this.#address);
    try {
      await connection.query({ text: SESSION });
      await this.#lock(connection);
      await (this.#registered ? this.#resume(connection) : this.#register(connection));
    } catch (error) {
      connection.close();
      throw error;
    }
    this.#lastBackend = connection.backend;
    this.#connection = connection;
    connection.onLost(() => void this.#reconnect());
    return connection;
  }

  async #lock(connection: Connection): Promise<void> {
    const once = async (): Promise<void> => {
      const [[locked] = []] = await connection.query({ text: `SELECT pg_try_advisory_lock(${LOCK})` });
      if (locked === true) return;
      if (this.#registered) await this.#resume(connection);
      // After a cut of the network, PostgreSQL may still serve this server's own lost connection.
      if (this.#lastBackend !== undefined)
        await connection.query(
          {
            text: `SELECT pg_terminate_backend(pid) FROM pg_locks
                   WHERE locktype = 'advisory' AND granted AND pid = $1
                     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
          },
          [this.#lastBackend],
        );
      throw new LockHeld('another connection has the lock');
    };
    try {
      await pRetry(once, {
        ...LOCK_PATIENCE,
        signal: this.#closing.signal,
        shouldRetry: ({ error }) => error instanceof LockHeld,
      });
    } catch (error) {
      throw error instanceof LockHeld && !this.#registered
        ? new DatabaseInUse(this.#address.label, error)
        : error;
    }
  }

  async #register(connection: Connection): Promise<void> {
    await migrate(connection, this.#address.label);
    await connection.query({ text: 'DELETE FROM servers' });
    await connection.query({ text: 'INSERT INTO servers (id, batch) VALUES ($1, 0)' }, [this.#id]);
    this.#registered = true;
  }

  async #resume(connection: Connection): Promise<void> {
    const [row] = await connection.query({ text: 'SELECT batch FROM servers WHERE id = $1' }, [this.#id]);
    if (row === undefined) throw this.takenOver(new Error('another server has taken the journal'));
    this.#batch = integerColumn(row[0]);
  }
}

/** Another connection has the lock of the journal. */
class LockHeld extends Error {
  override readonly name = 'LockHeld';
}

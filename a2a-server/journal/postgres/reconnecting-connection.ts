/** Keeps one connection to PostgreSQL. After a loss, the next caller opens another. */
import type { PostgresConnection } from './driver.ts';

export class ReconnectingConnection {
  readonly #open: () => Promise<PostgresConnection>;
  #connection: Promise<PostgresConnection> | undefined;
  #closed = false;

  constructor(open: () => Promise<PostgresConnection>) {
    this.#open = open;
  }

  /** Returns the connection. @throws PostgresError, or Error after `close` */
  async get(): Promise<PostgresConnection> {
    if (this.#closed) throw new Error('the journal is closed');
    if (this.#connection !== undefined) return this.#connection;
    const opening = this.#open();
    const forget = (): void => {
      if (this.#connection === opening) this.#connection = undefined;
    };
    opening.then((connection) => connection.onLost(forget), forget);
    this.#connection = opening;
    return opening;
  }

  /** Closes the connection, e.g. because it may hang. The next `get` opens another. */
  drop(): void {
    this.#connection?.then((connection) => connection.close()).catch(() => undefined);
    this.#connection = undefined;
  }

  /** Closes the connection. `get` opens no other. */
  close(): void {
    this.#closed = true;
    this.drop();
  }
}

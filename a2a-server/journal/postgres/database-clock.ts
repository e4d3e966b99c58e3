/**
 * Gives the time of the database to this server. All servers of the database use this time, so that a server with a
 * wrong clock does not expire the questions of other servers. The server reads the time of the database each second,
 * and measures the time since then with a monotonic clock.
 */
import { performance } from 'node:perf_hooks';
import type { QueryRunner } from './driver.ts';

/** The SQL expression for the time of the database, in milliseconds since 1970. */
export const DATABASE_TIME = '(extract(epoch FROM clock_timestamp()) * 1000)::float8';

export class DatabaseClock {
  /** The difference between the time of the database and the monotonic time, in milliseconds. */
  #offsetMs: number;
  readonly #monotonic: () => number;

  /** @param monotonic returns the time since a fixed moment, in milliseconds */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
    this.#offsetMs = Date.now() - monotonic();
  }

  /** Returns milliseconds since 1970. */
  now(): number {
    return Math.round(this.#monotonic() + this.#offsetMs);
  }

  /**
   * Reads the time of the database, and corrects the offset of this clock.
   * @param ask returns the time of the database, or undefined if there is no answer
   */
  async synchronize(ask: () => Promise<number | undefined>): Promise<void> {
    const sentAt = this.#monotonic();
    const time = await ask();
    if (time === undefined) return;
    const receivedAt = this.#monotonic();
    // The database read its clock after the query was sent and before the answer was received. So the correct offset is
    // between these two limits.
    const least = time - receivedAt;
    const most = time - sentAt;
    if (this.#offsetMs < least || this.#offsetMs > most) this.#offsetMs = (least + most) / 2;
  }
}

/** Reads the time of the database. @throws PostgresError */
export async function readDatabaseTime(database: QueryRunner): Promise<number> {
  const [[time] = []] = await database.query({ text: `SELECT ${DATABASE_TIME}` });
  return Number(time);
}

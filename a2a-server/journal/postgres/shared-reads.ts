/**
 * Lets equal reads share one query. A task may have hundreds of streams, and one wake-up makes all of them read the
 * same entries.
 *
 * A reader must get everything that was durable before its call. So it never shares a query that has already begun.
 * While that query runs, all later readers wait for the next one. The next query begins at the latest after
 * `MAX_WAIT_MS`, because the connection of the running query may hang.
 */
import { systemClock, type Clock } from '../../../shared/runtime/clock.ts';
import { resultWithin } from '../../runtime/timeout.ts';

/** The maximum time in milliseconds for which the next query waits for a running one. */
const MAX_WAIT_MS = 1_000;

export class SharedReads<Result> {
  /** The queries that have not begun. */
  readonly #next = new Map<string, Promise<Result>>();
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Returns the result of a query that begins after this call. @param key names the query and its parameters */
  read(key: string, query: () => Promise<Result>): Promise<Result> {
    const next = this.#next.get(key) ?? this.#runAfterCurrent(key, query);
    this.#next.set(key, next);
    return next;
  }

  async #runAfterCurrent(key: string, query: () => Promise<Result>): Promise<Result> {
    const running = this.#running.get(key);
    await (running && resultWithin(this.#clock, MAX_WAIT_MS, running));
    this.#next.delete(key);
    const result = query();
    const ended = result.catch(() => undefined);
    this.#running.set(key, ended);
    try {
      return await result;
    } finally {
      if (this.#running.get(key) === ended) this.#running.delete(key);
    }
  }
}

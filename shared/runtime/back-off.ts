/** The number of retries, and the delays between attempts in milliseconds. The fields are options of `p-retry`. */
export interface BackOffOptions {
  retries: number;
  minTimeout: number;
  maxTimeout: number;
  /** Each delay is `factor` times the previous delay. */
  factor: number;
  /**
   * True to add a random part to each delay. Otherwise all clients of a lost server would reconnect at the same moment.
   */
  randomize: boolean;
}

/** The delays are at least 0.2 s, 0.4 s … up to 5 s. All delays together take 21 to 26 s. */
export const DEFAULT_BACK_OFF: BackOffOptions = {
  retries: 8,
  minTimeout: 200,
  maxTimeout: 5_000,
  factor: 2,
  randomize: true,
};

/** Chooses the random part of the delays once. `backOffDelay` can then compute each delay in advance. */
export function withJitterChosenOnce({ minTimeout, randomize, ...rest }: BackOffOptions): BackOffOptions {
  return { ...rest, minTimeout: randomize ? minTimeout * (1 + Math.random()) : minTimeout, randomize: false };
}

/**
 * Returns the delay in milliseconds that `p-retry` uses after this number of retries. Does not include a random part.
 */
export function backOffDelay(retries: number, { minTimeout, maxTimeout, factor }: BackOffOptions): number {
  return Math.min(Math.round(minTimeout * factor ** retries), maxTimeout);
}

/**
 * Returns the delay before the next attempt, in milliseconds. This function is for code that waits on an injected
 * clock, because `p-retry` cannot use such a clock.
 * @param attempt the number of failed attempts
 * @param chance a random number from 0 to 1
 */
export function randomBackOffDelay(
  attempt: number,
  { firstMs, mostMs }: { firstMs: number; mostMs: number },
  chance: number,
): number {
  const longest = Math.min(mostMs, firstMs * 2 ** (attempt - 1));
  return longest * (0.5 + chance / 2);
}

/** The number of attempts and the delays between them, in milliseconds. The fields are options of `p-retry`. */
export interface BackOff {
  retries: number;
  minTimeout: number;
  maxTimeout: number;
  /** Each delay is `factor` times the previous delay. */
  factor: number;
  /** True to add jitter to the delays, so that the clients of a lost server do not all return at once. */
  randomize: boolean;
}

/** The delays are 0.2 s, 0.4 s … at most 5 s, and about 20 s in total. */
export const BACK_OFF: BackOff = {
  retries: 8,
  minTimeout: 200,
  maxTimeout: 5_000,
  factor: 2,
  randomize: true,
};

/** Chooses the jitter once, so that `delayAfter` knows each delay in advance. */
export function withFixedJitter({ minTimeout, randomize, ...rest }: BackOff): BackOff {
  return { ...rest, minTimeout: randomize ? minTimeout * (1 + Math.random()) : minTimeout, randomize: false };
}

/** Returns the delay of `p-retry` after this number of retries, in milliseconds, without jitter. */
export function delayAfter(retries: number, { minTimeout, maxTimeout, factor }: BackOff): number {
  return Math.min(Math.round(minTimeout * factor ** retries), maxTimeout);
}

/**
 * Returns a delay in milliseconds, for code that waits on an injected clock. `p-retry` cannot use such a clock.
 * @param attempt the number of failed attempts
 * @param chance a random number from 0 to 1
 */
export function waitAfter(
  attempt: number,
  { firstMs, mostMs }: { firstMs: number; mostMs: number },
  chance: number,
): number {
  const longest = Math.min(mostMs, firstMs * 2 ** (attempt - 1));
  return longest * (0.5 + chance / 2);
}

/** How often to try again, and how long to wait between attempts, in milliseconds: the options of `p-retry`. */
export interface BackOff {
  retries: number;
  minTimeout: number;
  maxTimeout: number;
  /** Each wait is `factor` times the last. */
  factor: number;
  /** Adds jitter to the delays, so that clients of one lost server do not all return at once. */
  randomize: boolean;
}

/** 0.2 s, 0.4 s … at most 5 s: about 20 s in total. */
export const BACK_OFF: BackOff = {
  retries: 8,
  minTimeout: 200,
  maxTimeout: 5_000,
  factor: 2,
  randomize: true,
};

/** The same back-off, with its jitter chosen once. So `delayAfter` knows each delay in advance. */
export function withFixedJitter({ minTimeout, randomize, ...rest }: BackOff): BackOff {
  return { ...rest, minTimeout: randomize ? minTimeout * (1 + Math.random()) : minTimeout, randomize: false };
}

/** The delay of `p-retry` after this number of retries, in milliseconds, without jitter. Pure. */
export function delayAfter(retries: number, { minTimeout, maxTimeout, factor }: BackOff): number {
  return Math.min(Math.round(minTimeout * factor ** retries), maxTimeout);
}

/**
 * For code that waits on an injected clock, which `p-retry` cannot use.
 * @param attempt the number of failed attempts. @returns a delay in milliseconds. Pure.
 */
export function waitAfter(
  attempt: number,
  { firstMs, mostMs }: { firstMs: number; mostMs: number },
  chance: number,
): number {
  const longest = Math.min(mostMs, firstMs * 2 ** (attempt - 1));
  return longest * (0.5 + chance / 2);
}

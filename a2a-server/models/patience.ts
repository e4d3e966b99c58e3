/** How often, and how long apart, a provider that could not answer is asked again. */
import { setTimeout as sleep } from 'node:timers/promises';
import pRetry, { AbortError } from 'p-retry';
import { failureOf, type Blame } from './provider-failure.ts';

export interface Patience {
  /** Attempts after the first. */
  retries: number;
  /** The first pause, in milliseconds; doubles with every attempt, and is spread by up to twice its length. */
  pauseMs: number;
  /** The longest pause, in milliseconds. A provider that asks for more (`Retry-After`) is not waited for. */
  maxPauseMs: number;
}

export const PATIENCE: Patience = { retries: 4, pauseMs: 500, maxPauseMs: 30_000 };

/**
 * Runs `attempt` until it succeeds, fails for good, or patience ends.
 * @throws ProductError of the last failure; an AbortError when `signal` aborts, also in the middle of a pause.
 */
export async function withPatience<Result>(
  attempt: () => Promise<Result>,
  { patience, blame, signal }: { patience: Patience; blame: Blame; signal: AbortSignal },
): Promise<Result> {
  const judged = async (): Promise<Result> => {
    try {
      return await attempt();
    } catch (thrown) {
      signal.throwIfAborted();
      const { error, retry, waitMs } = failureOf(thrown, blame);
      if (!retry || (waitMs !== undefined && waitMs > patience.maxPauseMs)) throw new AbortError(error);
      waits.set(error, waitMs ?? 0);
      throw error;
    }
  };
  const waits = new WeakMap<Error, number>();
  return pRetry(judged, {
    retries: patience.retries,
    minTimeout: patience.pauseMs,
    maxTimeout: patience.maxPauseMs,
    randomize: true,
    signal,
    onFailedAttempt: async ({ error, retriesLeft }) => {
      const asked = waits.get(error) ?? 0;
      if (retriesLeft > 0 && asked > 0) await sleep(asked, undefined, { signal });
    },
  });
}

import { setTimeout as sleep } from 'node:timers/promises';
import pRetry, { AbortError } from 'p-retry';
import { ProductError } from '../../shared/runtime/errors.ts';
import { RETRY_AFTER_FACT } from './model.ts';
import { toProviderError, type ProviderFailureContext } from './provider-failure.ts';

export interface ProviderRetryPolicy {
  retries: number;
  /** The first delay. The delay doubles after each attempt. Random jitter adds at most the same time again. */
  pauseMs: number;
  /** The longest delay. If a provider requests a longer delay (`Retry-After`), there is no retry. */
  maxPauseMs: number;
}

/**
 * The default policy. Its retries are short, because the person does not see them. After the last retry, the task
 * itself waits and shows the reason (`task/model-outage.ts`). The task also waits if the provider requests a longer
 * delay than `maxPauseMs`.
 */
export const PROVIDER_RETRY_POLICY: ProviderRetryPolicy = { retries: 2, pauseMs: 300, maxPauseMs: 1_000 };

/**
 * Repeats `attempt` until it succeeds, fails permanently, or has no retries left.
 * @throws ProductError of the last failure; AbortError when `signal` aborts, also during a delay
 */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  {
    retryPolicy,
    failureContext,
    signal,
  }: { retryPolicy: ProviderRetryPolicy; failureContext: ProviderFailureContext; signal: AbortSignal },
): Promise<Result> {
  const judged = async (): Promise<Result> => {
    try {
      return await attempt();
    } catch (thrown) {
      signal.throwIfAborted();
      const error = toProviderError(thrown, failureContext);
      if (!error.retryable || requestedDelayMs(error) > retryPolicy.maxPauseMs) throw new AbortError(error);
      throw error;
    }
  };
  return pRetry(judged, {
    retries: retryPolicy.retries,
    minTimeout: retryPolicy.pauseMs,
    maxTimeout: retryPolicy.maxPauseMs,
    randomize: true,
    signal,
    onFailedAttempt: async ({ error, retriesLeft }) => {
      const asked = requestedDelayMs(error);
      if (retriesLeft > 0 && asked > 0) await sleep(asked, undefined, { signal });
    },
  });
}

/** Returns the delay that the provider requests, or 0. */
function requestedDelayMs(error: Error): number {
  return error instanceof ProductError ? Number(error.facts[RETRY_AFTER_FACT] ?? 0) : 0;
}

import pRetry from 'p-retry';
import { backOffDelay, type BackOffOptions } from '../../runtime/back-off.ts';
import { waitForRetryAfter } from '../../runtime/retry-after.ts';
import { ClientError } from './client-error.ts';

export interface RetryPolicy {
  /** The maximum number of consecutive failed attempts. */
  attempts: number;
  /**
   * The longest delay before the second attempt. The longest delay doubles with each further attempt, up to `mostMs`.
   * The client waits for a random part of the longest delay, at least half of it.
   */
  firstMs: number;
  mostMs: number;
}

export const CLIENT_RETRY_POLICY: RetryPolicy = { attempts: 8, firstMs: 200, mostMs: 5_000 };

/**
 * Returns the policy as options of `p-retry`. `p-retry` lengthens each delay by a random factor from 1 to 2. So the
 * minimum is half of `firstMs`, and the first delay is between half of `firstMs` and `firstMs`.
 */
export function toBackOffOptions({ attempts, firstMs, mostMs }: RetryPolicy): BackOffOptions {
  return { retries: attempts - 1, minTimeout: firstMs / 2, maxTimeout: mostMs, factor: 2, randomize: true };
}

const NEVER_ABORTED = new AbortController().signal;

export interface RetryOptions {
  signal?: AbortSignal | undefined;
  /** Returns true if the client retries after this error. By default, it retries after a retryable error. */
  passes?: (error: unknown) => error is ClientError;
  onFailure?: ((attempt: number, error: ClientError) => void) | undefined;
}

/**
 * Calls `act` again after each error that `passes` accepts, up to the number of attempts in the policy. The request
 * must be idempotent.
 * @throws ClientError of the last attempt, or the abort reason of `signal`
 */
export function retryWithBackOff<T>(
  act: () => Promise<T>,
  retryPolicy: RetryPolicy,
  { signal, passes = isRetryable, onFailure }: RetryOptions = {},
): Promise<T> {
  const backOff = toBackOffOptions(retryPolicy);
  return pRetry(act, {
    ...backOff,
    ...(signal && { signal }),
    async shouldRetry({ error, attemptNumber, retriesConsumed }) {
      if (!passes(error)) return false;
      onFailure?.(attemptNumber, error);
      await waitForRetryAfter(error, backOffDelay(retriesConsumed, backOff), signal ?? NEVER_ABORTED);
      return true;
    },
  });
}

/** Returns true if the same request may succeed later without a change. */
export function isRetryable(error: unknown): error is ClientError {
  return error instanceof ClientError && error.retryable;
}

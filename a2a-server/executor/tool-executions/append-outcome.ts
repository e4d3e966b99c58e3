/**
 * Appends the outcome of a tool execution, even if the journal cannot be written for a while, e.g. on a full disk. E2: only
 * this process knows the outcome. Without another attempt, a person would have to decide whether the tool call runs
 * again.
 */
import type { Clock } from '../../../shared/runtime/clock.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { delay } from '../../runtime/timeout.ts';
import { isDamagedTaskError } from '../../journal/damaged-task.ts';

/** The delay before the next attempt, in milliseconds. */
const RETRY_MS = 5_000;

/** The attempts take about ten minutes. */
const MAX_ATTEMPTS = 120;

interface OutcomeAppendOptions {
  clock: Clock;
  /** The signal of the tool execution. After its abort, there is one last attempt. */
  signal: AbortSignal;
  /** Called after each failed attempt except the last. */
  onFailure: (error: unknown) => void;
}

/**
 * Returns the result of the first successful attempt.
 * @throws the error of the last attempt
 */
export async function appendOutcome<T>(
  append: () => Promise<T>,
  { clock, signal, onFailure }: OutcomeAppendOptions,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await append();
    } catch (error) {
      if (!mayPass(error) || signal.aborted || attempt === MAX_ATTEMPTS) throw error;
      onFailure(error);
    }
    await delay(clock, RETRY_MS, signal).catch(() => undefined);
  }
}

/** True if a later attempt may succeed. A damaged journal stays damaged. */
function mayPass(error: unknown): boolean {
  return error instanceof ProductError && error.reason === 'STORAGE' && !isDamagedTaskError(error);
}

/**
 * Reads a stream, and opens it again after it breaks. The sessions of the bridge, the command `watch` and the client
 * library read a task's stream with this function.
 *
 * A stream counts as healthy if it delivered a new event, or stayed open for some seconds. After a healthy stream, the
 * next stream opens immediately, and the retries start again with the shortest delay.
 */
import pRetry from 'p-retry';
import { backOffDelay, type BackOffOptions } from './back-off.ts';
import { waitForRetryAfter } from './retry-after.ts';

/** A stream that stayed open for this time is healthy. */
const HEALTHY_AFTER_MS = 5_000;

export interface KeepReadingStreamOptions {
  backOff: BackOffOptions;
  signal: AbortSignal;
  /**
   * Opens the stream and reads it to its end. Calls `opened` when the first part of the response arrives. Returns
   * `enough` if no further stream is needed.
   * @throws Error if the stream could not be opened, or broke
   */
  read: (opened: () => void) => Promise<'enough' | 'ended'>;
  /**
   * Returns the position of the last event that was read. A changed position shows that the stream delivered a new
   * event.
   */
  position: () => number | null;
  /** Returns true if another stream may succeed after this error. */
  passes: (error: unknown) => boolean;
  endedEarly: () => Error;
  /** Called before a stream is opened again after a failure. `attempt` is the number of consecutive failures. */
  onCut?: (error: unknown, attempt: number) => void;
}

/** Resolves when `read` returns `enough`. @throws the last error of `read`, or the abort of `signal` */
export async function keepReadingStream(keeping: KeepReadingStreamOptions): Promise<void> {
  const { backOff, signal, read, position, passes, endedEarly, onCut } = keeping;
  const once = async (): Promise<'enough' | 'sound'> => {
    const before = position();
    let openedAt = Infinity;
    let cut: unknown;
    try {
      if ((await read(() => (openedAt = performance.now()))) === 'enough') return 'enough';
    } catch (error) {
      if (!passes(error)) throw error;
      cut = error;
    }
    if (position() === before && performance.now() - openedAt < HEALTHY_AFTER_MS) throw cut ?? endedEarly();
    // The server may end a healthy stream, because each stream has a maximum lifetime.
    if (cut !== undefined) onCut?.(cut, 1);
    return 'sound';
  };
  // `p-retry` cannot reset its delays. So a new series of attempts starts after each healthy stream.
  while (
    (await pRetry(once, {
      ...backOff,
      signal,
      shouldRetry: async ({ error, attemptNumber, retriesConsumed }) => {
        if (!passes(error)) return false;
        onCut?.(error, attemptNumber);
        await waitForRetryAfter(error, backOffDelay(retriesConsumed, backOff), signal);
        return true;
      },
    })) === 'sound'
  );
}

/**
 * Keeps a stream open: reads it, and opens it again after it breaks. The sessions of the bridge, `watch` and the client
 * library all read a task's stream with this function.
 *
 * A stream is sound if it delivered a new event, or stayed open for some seconds. After a sound stream, the next stream
 * opens at once, and the back-off is reset.
 */
import pRetry from 'p-retry';
import { delayAfter, type BackOff } from './back-off.ts';
import { waitLonger } from './retry-after.ts';

/** A stream that stayed open for this time is sound. */
const STEADY_MS = 5_000;

export interface StreamKeeping {
  backOff: BackOff;
  signal: AbortSignal;
  /**
   * Opens the stream and reads it to its end. Calls `opened` when the peer has begun to respond. Returns `enough` if no
   * further stream is needed.
   * @throws Error if the stream could not be opened, or broke
   */
  read: (opened: () => void) => Promise<'enough' | 'ended'>;
  /**
   * Returns the position of the last event that was read. If the position changes, the stream has delivered a new
   * event.
   */
  position: () => number | null;
  /** Returns true if another stream may succeed after this error. */
  passes: (error: unknown) => boolean;
  endedEarly: () => Error;
  /** Runs before a stream is opened again after a failure. `attempt` is the number of consecutive failures. */
  onCut?: (error: unknown, attempt: number) => void;
}

/** Resolves when `read` returns `enough`. @throws the last error of `read`, or the abort of `signal` */
export async function keepReading(keeping: StreamKeeping): Promise<void> {
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
    if (position() === before && performance.now() - openedAt < STEADY_MS) throw cut ?? endedEarly();
    // The peer may end a sound stream, because each stream has a maximum lifetime.
    if (cut !== undefined) onCut?.(cut, 1);
    return 'sound';
  };
  // `p-retry` cannot reset its back-off. So after each sound stream, a new series of attempts begins.
  while (
    (await pRetry(once, {
      ...backOff,
      signal,
      shouldRetry: async ({ error, attemptNumber, retriesConsumed }) => {
        if (!passes(error)) return false;
        onCut?.(error, attemptNumber);
        await waitLonger(error, delayAfter(retriesConsumed, backOff), signal);
        return true;
      },
    })) === 'sound'
  );
}

/**
 * Keeps a stream open: reads it, and opens it again after a cut. The sessions of the bridge, `watch` and the client
 * library all read a task's stream with this function.
 *
 * A stream is sound if it delivered something new, or stayed open for some seconds. After a sound stream the next
 * stream opens at once, and the back-off starts again.
 */
import pRetry from 'p-retry';
import type { BackOff } from './back-off.ts';

/** A stream that stayed open for this time is sound. Milliseconds. */
const STEADY_MS = 5_000;

export interface StreamKeeping {
  backOff: BackOff;
  signal: AbortSignal;
  /**
   * Opens the stream and reads it to its end. It calls `opened` when the peer has begun to answer.
   * @returns `enough` if no further stream is needed @throws why the stream could not be opened, or was cut
   */
  read: (opened: () => void) => Promise<'enough' | 'ended'>;
  /** The position of the last event that was read. If it changes, the stream has delivered something new. */
  position: () => number | null;
  /** Whether another stream may succeed after this error. */
  passes: (error: unknown) => boolean;
  /** Makes the error for a stream that ended too early. */
  endedEarly: () => Error;
  /** Called before a stream is opened again after a failure. `attempt`: the number of consecutive failures. */
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
    // The peer may end a sound stream, because each stream has a lifetime.
    if (cut !== undefined) onCut?.(cut, 1);
    return 'sound';
  };
  // `p-retry` cannot restart its back-off. So after each sound stream, a new series of attempts begins.
  while (
    (await pRetry(once, {
      ...backOff,
      signal,
      shouldRetry: ({ error, attemptNumber }) => {
        if (!passes(error)) return false;
        onCut?.(error, attemptNumber);
        return true;
      },
    })) === 'sound'
  );
}

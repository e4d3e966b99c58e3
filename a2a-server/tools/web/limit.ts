/** Work with a limit of its own beside the signal of whoever asked for it. */
import { onAbort } from '../../../shared/abort.ts';
import type { Clock } from '../../../shared/clock.ts';

/**
 * Runs `work` with a signal that aborts with the caller's, and when the time is up. Leaves no timer and no listener.
 * @throws AbortError once the caller's signal has aborted; Error when the time was up; what `work` throws.
 */
export async function withinLimit<T>(
  { signal, timeMs }: { signal: AbortSignal; timeMs: number },
  clock: Clock,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const own = new AbortController();
  const stopListening = onAbort(signal, () => own.abort());
  let late = false;
  const callOff = clock.after(timeMs, () => {
    late = true;
    own.abort();
  });
  try {
    return await work(own.signal);
  } catch (error) {
    signal.throwIfAborted();
    throw late ? new Error(`There was no whole answer within ${timeMs / 1000} s.`, { cause: error }) : error;
  } finally {
    stopListening();
    callOff();
  }
}

/** Runs work with a time limit in addition to the caller's signal. */
import { onAbort } from '../../../shared/runtime/abort.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';

/**
 * Runs `work` with a signal that aborts with the caller's signal or at the time limit. Leaves no timer and no listener.
 * @throws AbortError after the caller's signal aborts; Error at the time limit; the error of `work`
 */
export async function withTimeLimit<T>(
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
    throw late
      ? new Error(`The server sent no complete response within ${timeMs / 1000} s.`, { cause: error })
      : error;
  } finally {
    stopListening();
    callOff();
  }
}

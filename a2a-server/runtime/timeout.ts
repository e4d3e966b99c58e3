/** Timeouts and delays on an injected clock. */
import { onAbort } from '../../shared/runtime/abort.ts';
import type { Clock } from '../../shared/runtime/clock.ts';

export interface Timeout {
  /** Aborts when the time has passed, or when the caller's signal aborts. */
  signal: AbortSignal;
  expired: () => boolean;
  /** Removes the timer and the listener. The caller must call this function when the work has ended. */
  clear: () => void;
}

/** Starts a timeout. @param signal if this signal aborts, the signal of the timeout aborts too */
export function startTimeout(clock: Clock, ms: number, signal?: AbortSignal): Timeout {
  const own = new AbortController();
  let expired = false;
  const stopListening = signal && onAbort(signal, () => own.abort());
  const cancelTimer = clock.after(ms, () => {
    expired = true;
    own.abort();
  });
  return {
    signal: own.signal,
    expired: () => expired,
    clear: () => {
      cancelTimer();
      stopListening?.();
    },
  };
}

/** Returns the result of the work. Returns undefined if the work takes longer than `ms` milliseconds. */
export async function resultWithin<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  let cancelTimer: (() => void) | undefined;
  const late = new Promise<undefined>((resolve) => {
    cancelTimer = clock.after(ms, () => resolve(undefined));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancelTimer?.();
  }
}

/**
 * Resolves after `ms` milliseconds. Removes its timer and its listener.
 * @throws AbortError as soon as `signal` aborts
 */
export async function delay(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve) => {
    const stopListening = onAbort(signal, () => {
      cancelTimer();
      resolve();
    });
    const cancelTimer = clock.after(ms, () => {
      stopListening();
      resolve();
    });
  });
  signal.throwIfAborted();
}

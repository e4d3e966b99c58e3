/** Timeouts and delays on an injected clock. */
import { onAbort } from './abort.ts';
import type { Clock } from './clock.ts';

export interface Timeout {
  /** Aborts when the time has passed, or when the caller's signal aborts. */
  signal: AbortSignal;
  expired: () => boolean;
  /** Removes the timer and the listener. The caller must call this when the work has ended. */
  clear: () => void;
}

/** @param signal an abort of this signal also aborts the timeout's signal */
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

/** Waits for the work, at most `ms` milliseconds. Returns undefined if the work is not done in time. */
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

/** Resolves after `ms` milliseconds. Leaves no timer and no listener. @throws AbortError as soon as `signal` aborts */
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

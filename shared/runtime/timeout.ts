/** Timeouts and delays on an injected clock. */
import { onAbort } from './abort.ts';
import type { Clock } from './clock.ts';

export interface Timeout {
  /** Aborts after the time, or with the caller's signal. */
  signal: AbortSignal;
  /** True once it has expired. */
  expired: () => boolean;
  /** Call it when the work is over. Afterwards no timer and no listener is left. */
  clear: () => void;
}

/** Starts a timeout. @param signal the caller's signal */
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

/** Waits for the work, at most `ms` milliseconds. @returns undefined if it is not done by then */
export async function atMost<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
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

/** Resolves after `ms` milliseconds. @throws AbortError as soon as `signal` aborts. It leaves no timer and no listener. */
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

/** An abortable delay. */
import { onAbort } from './abort.ts';
import type { Clock } from './clock.ts';

/** Resolves after `ms` milliseconds. @throws AbortError as soon as `signal` aborts. It leaves no timer and no listener. */
export async function delay(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve) => {
    const stopListening = onAbort(signal, () => {
      callOff();
      resolve();
    });
    const callOff = clock.after(ms, () => {
      stopListening();
      resolve();
    });
  });
  signal.throwIfAborted();
}

/** How long a client goes on trying. */
import { ClientError } from './client-error.ts';

export interface Patience {
  /** Attempts in a row that may fail before the client gives up. */
  attempts: number;
  /** Before the second attempt, in milliseconds; each wait is twice the last, spread by chance. */
  firstMs: number;
  mostMs: number;
  /** A stream that is silent for longer is taken for dead, in milliseconds. Servers give a sign of life every 10 to 15 s. */
  quietMs: number;
  /** Over MCP nothing tells of a decision made elsewhere: how often to look whether a waiting task still waits. */
  lookMs: number;
}

export const PATIENCE: Patience = {
  attempts: 8,
  firstMs: 200,
  mostMs: 5_000,
  quietMs: 45_000,
  lookMs: 10_000,
};

/** @param attempt how many have failed; @returns milliseconds. Pure. */
export function waitAfter(
  attempt: number,
  { firstMs, mostMs }: Pick<Patience, 'firstMs' | 'mostMs'>,
  chance: number,
): number {
  const longest = Math.min(mostMs, firstMs * 2 ** (attempt - 1));
  return longest * (0.5 + chance / 2);
}

/** Resolves after so many milliseconds, or as soon as the signal aborts. Leaves no timer and no listener. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}

export interface Trying {
  /** Ends the trying when it aborts. */
  signal?: AbortSignal | undefined;
  /** Whether to try again after this failure; while the same may succeed later, when left out. */
  passes?: (error: unknown) => error is ClientError;
  /** Told of each failure that is followed by another attempt. */
  onFailure?: ((attempt: number, error: ClientError) => void) | undefined;
}

/** For what may be asked twice. @throws ClientError what the last attempt threw */
export async function tryAgain<T>(
  act: () => Promise<T>,
  patience: Patience,
  { signal = new AbortController().signal, passes = isPassing, onFailure }: Trying = {},
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (!passes(error) || attempt >= patience.attempts || signal.aborted) throw error;
      onFailure?.(attempt, error);
      await pause(waitAfter(attempt, patience, Math.random()), signal);
      if (signal.aborted) throw error;
    }
  }
}

/** Whether the same may succeed later. */
export function isPassing(error: unknown): error is ClientError {
  return error instanceof ClientError && error.retryable;
}

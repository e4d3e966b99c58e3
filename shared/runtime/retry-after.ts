/**
 * The time that a server asks its clients to wait before they repeat a refused request (`Retry-After`, RFC 9110
 * §10.2.3).
 */
import { pause } from './pause.ts';
import { fieldOf } from './record.ts';

/** The maximum time that a client waits, even if the server asks for more. */
const LONGEST_MS = 5 * 60_000;

/** Returns the fact `retryAfter` of an error in milliseconds. 0 if the error has none. */
export function retryAfterMs(error: unknown): number {
  const seconds = Number(fieldOf(fieldOf(error, 'facts'), 'retryAfter') ?? 0);
  return seconds > 0 ? Math.min(seconds * 1000, LONGEST_MS) : 0;
}

/**
 * Waits for the part of `Retry-After` that is longer than the client's own delay. Resolves earlier if the signal aborts.
 * @param delayMs the time that the client waits in any case
 */
export async function waitLonger(error: unknown, delayMs: number, signal: AbortSignal): Promise<void> {
  const ms = retryAfterMs(error) - delayMs;
  if (ms > 0) await pause(ms, signal);
}

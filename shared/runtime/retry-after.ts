/**
 * The `Retry-After` of a refused request: how long the client must wait before it repeats the request (RFC 9110
 * §10.2.3).
 */
import { pause } from './pause.ts';
import { fieldOf } from './record.ts';

/** The maximum time that a client waits, even if the server demands more. */
const MAX_WAIT_MS = 5 * 60_000;

/** Returns the fact `retryAfter` of an error, in milliseconds. Returns 0 if the error has no such fact. */
export function requestedRetryDelayMs(error: unknown): number {
  const seconds = Number(fieldOf(fieldOf(error, 'facts'), 'retryAfter') ?? 0);
  return seconds > 0 ? Math.min(seconds * 1000, MAX_WAIT_MS) : 0;
}

/**
 * Waits until the time in `Retry-After` has passed. The client has its own delay too, so this function waits only for
 * the difference. Resolves earlier if the signal aborts.
 * @param delayMs the client's own delay
 */
export async function waitForRetryAfter(error: unknown, delayMs: number, signal: AbortSignal): Promise<void> {
  const ms = requestedRetryDelayMs(error) - delayMs;
  if (ms > 0) await pause(ms, signal);
}

/**
 * Divides work among turns of the event loop. X3: hundreds of requests or streams of large tasks may be ready in one
 * turn. Together they would block all other requests for seconds.
 */

/** The time in milliseconds after which no further work begins in a turn. */
const MAX_TURN_MS = 20;

/** When the first work of the current turn began. Undefined before the first work of a turn. */
let begin: number | undefined;

/**
 * Returns true if the current turn has no time for more work. The first call in a turn starts the time of the turn.
 * Call this function right before the work. While it returns true, wait for the next turn.
 */
export function isTurnOver(): boolean {
  if (begin !== undefined) return performance.now() - begin > MAX_TURN_MS;
  begin = performance.now();
  setImmediate(() => (begin = undefined));
  return false;
}

/** The time without data after which the kernel sends a TCP keep-alive probe. */
export const PROBE_AFTER_MS = 60_000;

/**
 * Options of `createServer`. With these options, the kernel detects that the client of an idle connection has vanished.
 * E4: a lost connection changes no task.
 */
export const TCP_KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS };

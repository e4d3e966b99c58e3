/** The time without data after which the kernel sends a TCP keep-alive probe. */
export const PROBE_AFTER_MS = 60_000;

/**
 * Options of `createServer`. E4: a lost connection changes no task. With these options, the kernel also detects a
 * vanished client of an idle connection.
 */
export const TCP_KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS };

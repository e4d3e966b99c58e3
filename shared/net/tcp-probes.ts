/** Milliseconds of silence before the kernel sends a TCP keep-alive probe. */
const PROBE_AFTER_MS = 60_000;

/** Options of `createServer`: the kernel detects vanished peers, also on idle connections (E4). */
export const TCP_PROBES = { keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS };

/** After this time without data, the kernel sends a TCP keep-alive probe. */
const PROBE_AFTER_MS = 60_000;

/** Options of `createServer`. They let the kernel detect vanished peers on idle connections too (E4). */
export const TCP_PROBES = { keepAlive: true, keepAliveInitialDelay: PROBE_AFTER_MS };

/**
 * Computes the lease of a server: the time in which no other server may claim its tasks. Pure. The database stores the
 * end of the lease by its own clock. A server measures its lease with a monotonic clock, from the time directly before
 * it sent the renewal.
 */

/** The time from a renewal to the end of the lease. */
export const LEASE_MS = 4_000;

/** The interval of the renewals. */
export const LEASE_RENEWAL_MS = 1_000;

/** A server stops its tools this long before the end of its lease, in milliseconds. */
const STOP_EARLY_MS = 1_000;

/**
 * Returns the time at which the server must stop the work on its tasks, in milliseconds.
 * @param sentAt the time directly before the last successful renewal was sent, in milliseconds
 */
export function leaseWorkDeadline(sentAt: number): number {
  return sentAt + LEASE_MS - STOP_EARLY_MS;
}

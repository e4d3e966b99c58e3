import { performance } from 'node:perf_hooks';

/** The time between two measurements, in milliseconds. */
const WINDOW_MS = 500;
/** The load is the share of its time for which the event loop is not idle. */
const BUSY_FROM_LOAD = 0.9;
const BUSY_UNTIL_LOAD = 0.75;

/**
 * Returns a function. It returns true from a window in which the event loop had almost no idle time, until a window with
 * clearly more.
 */
export function busyEventLoop(): () => boolean {
  let before = performance.eventLoopUtilization();
  let at = performance.now();
  let busy = false;
  return () => {
    if (performance.now() - at < WINDOW_MS) return busy;
    busy = isBusy(busy, performance.eventLoopUtilization(before).utilization);
    before = performance.eventLoopUtilization();
    at = performance.now();
    return busy;
  };
}

/**
 * True if the event loop is busy after a window with this load. A busy server takes less work, which lowers the load.
 * So a busy state ends at a lower load than it begins, and does not flicker.
 */
export function isBusy(before: boolean, load: number): boolean {
  return load > (before ? BUSY_UNTIL_LOAD : BUSY_FROM_LOAD);
}

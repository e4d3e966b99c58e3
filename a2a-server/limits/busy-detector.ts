import { performance } from 'node:perf_hooks';

/** The time between two measurements, in milliseconds. */
const WINDOW_MS = 500;
/** Above this load, the event loop counts as busy. The load is the share of time in which it is not idle. */
const BUSY_FROM_LOAD = 0.9;
const BUSY_UNTIL_LOAD = 0.75;

/** Returns a function that measures the load and returns true while the event loop is busy; see `isBusyAtLoad`. */
export function createBusyDetector(): () => boolean {
  let before = performance.eventLoopUtilization();
  let at = performance.now();
  let busy = false;
  return () => {
    if (performance.now() - at < WINDOW_MS) return busy;
    busy = isBusyAtLoad(busy, performance.eventLoopUtilization(before).utilization);
    before = performance.eventLoopUtilization();
    at = performance.now();
    return busy;
  };
}

/**
 * True if this load makes the event loop busy. A busy server takes less work, which lowers the load. So the busy state
 * ends at a lower load than it begins. Otherwise it would begin and end again and again.
 * @param before true if the event loop was busy at the last measurement
 */
export function isBusyAtLoad(before: boolean, load: number): boolean {
  return load > (before ? BUSY_UNTIL_LOAD : BUSY_FROM_LOAD);
}

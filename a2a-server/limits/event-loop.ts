import { performance } from 'node:perf_hooks';

/** The time between two measurements, in milliseconds. */
const WINDOW_MS = 500;
const BUSY_SHARE = 0.9;

/** Returns a function. It returns true if the event loop had almost no idle time in the last window. */
export function busyEventLoop(): () => boolean {
  let before = performance.eventLoopUtilization();
  let at = performance.now();
  let busy = false;
  return () => {
    if (performance.now() - at < WINDOW_MS) return busy;
    busy = performance.eventLoopUtilization(before).utilization > BUSY_SHARE;
    before = performance.eventLoopUtilization();
    at = performance.now();
    return busy;
  };
}

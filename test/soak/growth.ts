/** Computes the growth of a process over three windows of its life. Pure. */
import type { Census } from './census.ts';

/**
 * The smaller growth of the two from a window to the next.
 *
 * - Work in progress adds to some censuses of a window, and a leak to all. So the minimum of a window counts.
 * - A leak grows between all windows. A pool that opens one more connection grows once.
 */
export function growth(early: readonly Census[], middle: readonly Census[], late: readonly Census[]): Census {
  const of = (what: keyof Census): number => {
    const [first, second, third] = [least(early, what), least(middle, what), least(late, what)];
    return Math.min(second - first, third - second);
  };
  return {
    heapBytes: of('heapBytes'),
    handles: of('handles'),
    listeners: of('listeners'),
    abortListeners: of('abortListeners'),
    functions: of('functions'),
    promises: of('promises'),
    timers: of('timers'),
    descriptors: of('descriptors'),
  };
}

function least(window: readonly Census[], what: keyof Census): number {
  return Math.min(...window.map((census) => census[what]));
}

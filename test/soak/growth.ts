/** The growth of a process between an early and a late window of its life. Pure. */
import type { Census } from './census.ts';

/**
 * The minimum of the late window minus the minimum of the early window. Work in progress only adds to a single
 * census, but a leak is in all of them.
 */
export function growth(early: readonly Census[], late: readonly Census[]): Census {
  const of = (what: keyof Census): number => least(late, what) - least(early, what);
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

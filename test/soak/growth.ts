/** What has come to a process between an early window of its life and a late one. Pure. */
import type { Census } from './census.ts';

/**
 * The least of the late window less the least of the early one: what happened to be under way while one census was taken
 * only adds to it, what leaked is in all of them.
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

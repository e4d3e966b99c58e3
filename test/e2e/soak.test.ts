/** Long work leaks nothing. This is a short part; `npm run bench -- --only soak` runs a thousand turns. */
import { describe, expect, it } from '@jest/globals';
import { soakBridge } from '../soak/bridge-soak.ts';
import { soakServer } from '../soak/server-soak.ts';
import type { Soaked } from '../soak/soak.ts';

/** Compiled code and bounded caches may still grow the heap by this much. */
const HEAP_NOISE = 1024 * 1024;
/**
 * Each request of the bridge has a limit of 20 s. The signal's timer ends when the signal is collected.
 * So the last requests leave signals, functions and listeners, in varying numbers.
 */
const LIMITS_OF_REQUESTS = 30;

/** A leak per step appears once per round. `mayDiffer` excludes the objects of time limits. */
function expectFlat({ growth, between, log }: Soaked & { log: string }, mayDiffer = 0): void {
  const { heapBytes, ...all } = growth;
  const { timers, functions, listeners } = all;
  const ofLimits = {
    timers: timers - mayDiffer,
    functions: functions - mayDiffer,
    listeners: listeners - mayDiffer,
  };
  const counted = { ...all, ...ofLimits };
  expect(Object.entries(counted).filter(([, by]) => by >= between.rounds)).toEqual([]);
  expect(heapBytes).toBeLessThan(HEAP_NOISE);
  // Node warns once if an emitter has too many listeners.
  expect(log).not.toContain('Warning');
}

describe('many turns', () => {
  it('R29 many turns over one keep-alive socket do not increase the server’s listeners, heap, handles and timers', async () => {
    expectFlat(await soakServer({ warmUp: 5, window: 2, between: 5 }));
  }, 120_000);

  it('R29 many turns over MCP do not increase the bridge’s listeners, heap, handles and timers', async () => {
    expectFlat(await soakBridge({ warmUp: 8, window: 3, between: 5 }), LIMITS_OF_REQUESTS);
  }, 120_000);
});

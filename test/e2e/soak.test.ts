/** Long work leaves nothing behind. A short slice of it; `npm run bench -- --only soak` is the thousand turns. */
import { describe, expect, it } from '@jest/globals';
import { soakBridge } from '../soak/bridge-soak.ts';
import { soakServer } from '../soak/server-soak.ts';
import type { Soaked } from '../soak/soak.ts';

/** What code compiled meanwhile, and caches with a bound, may still add to the heap. */
const HEAP_NOISE = 1024 * 1024;
/**
 * Each request of the bridge has a limit of 20 s, a signal whose timer goes when it is collected: those of the last requests
 * are still there, with their functions and with what listens to them, more of them in one census than in another.
 */
const LIMITS_OF_REQUESTS = 30;

/** What any step of a round leaves behind is there once a round; `mayDiffer` is not counted of what belongs to a limit. */
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
  // Node says once of an emitter that it has too many listeners.
  expect(log).not.toContain('Warning');
}

describe('many turns', () => {
  it('R29 over one keep-alive socket: listeners, heap, handles and timers of the server stay as they are', async () => {
    expectFlat(await soakServer({ warmUp: 5, window: 2, between: 5 }));
  }, 120_000);

  it('R29 over MCP and the bridge: listeners, heap, handles and timers of the bridge stay as they are', async () => {
    expectFlat(await soakBridge({ warmUp: 8, window: 3, between: 5 }), LIMITS_OF_REQUESTS);
  }, 120_000);
});

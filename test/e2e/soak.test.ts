/** Tests that long work leaks nothing. This is a short part; `npm run bench -- --only soak` runs a thousand turns. */
import { describe, expect, it } from '@jest/globals';
import { soakBridge } from '../soak/bridge-soak.ts';
import { soakServer } from '../soak/server-soak.ts';
import type { Soaked } from '../soak/soak.ts';

/** The heap may grow by this number of bytes, because of compiled code and bounded caches. */
const HEAP_NOISE = 1024 * 1024;
/** Checks that nothing leaks. An object that leaks in each round adds at least one per round between two windows. */
function expectFlat({ growth, between, log }: Soaked & { log: string }): void {
  const { heapBytes, ...counted } = growth;
  expect(Object.entries(counted).filter(([, by]) => by >= between.rounds)).toEqual([]);
  expect(heapBytes).toBeLessThan(HEAP_NOISE);
  // Node warns once if an emitter has too many listeners.
  expect(log).not.toContain('Warning');
}

describe('many turns on one server or bridge', () => {
  it('R29 many turns over one keep-alive socket do not increase the server’s listeners, heap, handles and timers', async () => {
    expectFlat(await soakServer({ warmUp: 5, window: 2, between: 3 }));
  }, 300_000);

  it('R29 many turns over MCP do not increase the bridge’s listeners, heap, handles and timers', async () => {
    // The bridge keeps 20 ended sessions in memory, and a round ends two. So that cache is full after ten rounds.
    expectFlat(await soakBridge({ warmUp: 12, window: 2, between: 3 }));
  }, 300_000);
});

/** A short slice of the fault harness, as `npm run faults` runs it: killed, cut, and compared with a server that forgets. */
import { describe, expect, it, jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

// Dozens of processes live and die here, on a machine that may be busy with others. Nothing waits for this time to pass.
jest.setTimeout(180_000);

const result = z.object({
  seed: z.number(),
  counts: z.record(z.string(), z.number()),
  violations: z.array(z.object({ part: z.string(), round: z.number(), what: z.string() })),
});

/** Runs the harness, which must find nothing. @returns what it counted */
async function faults(...args: string[]): Promise<Record<string, number>> {
  const child = spawn(
    process.execPath,
    ['scripts/run.mjs', 'test/faults/faults.ts', '--json', '--seed', '20', ...args],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const [out, said] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (out === '') throw new Error(`the harness broke off:\n${said}`);
  const { violations, counts } = result.parse(JSON.parse(out));
  if (violations.length > 0) throw new Error(said);
  return counts;
}

describe('a slice of the fault harness', () => {
  it('R20 R21 R22 R65 killed at random, server and bridge lose nothing and do nothing twice', async () => {
    const counts = await faults('--only', 'kills', '--rounds', '1');
    expect(counts['kills: kills']).toBeGreaterThanOrEqual(10);
    expect(counts['kills: flows']).toBeGreaterThan(0);
  });

  it('R23 killed before and after an append, the journal goes on as it began', async () => {
    const counts = await faults('--only', 'appends', '--from', '12', '--rounds', '2', '--lanes', '1');
    expect(counts['appends: deaths before an append']).toBe(2);
    expect(counts['appends: deaths after an append']).toBe(2);
  });

  it('R25 R27 cut at any byte, streams go on without gap or repeat, and commands count once', async () => {
    const counts = await faults('--only', 'proxy', '--rounds', '1', '--lanes', '1');
    expect(counts['proxy: cuts']).toBeGreaterThan(100);
  });

  it('a black box tells a server that keeps everything from one that forgets', async () => {
    const counts = await faults('--only', 'blackbox');
    expect(counts['blackbox: scenarios held by our server']).toBe(14);
    expect(counts['blackbox: scenarios lost by the bare server']).toBeGreaterThan(3);
  });
});

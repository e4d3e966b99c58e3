/**
 * Runs a short part of the fault harness (`npm run faults`): kills, cuts, stalls, full disks, and a server that
 * forgets.
 */
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { bundleProgram } from '../../scripts/bundle-program.mjs';
import { whyNoPostgres } from '../support/postgres-server.ts';

// This test starts dozens of processes, perhaps on a busy machine. It does not wait for this time to pass.
jest.setTimeout(240_000);

const result = z.object({
  seed: z.number(),
  counts: z.record(z.string(), z.number()),
  violations: z.array(z.object({ part: z.string(), round: z.number(), what: z.string() })),
});
type Counts = Record<string, number>;

/**
 * Starts a part of the harness, which must find no fault. Resolves after the start. @returns a promise of the final
 * counts
 */
async function begin(...args: string[]): Promise<{ counts: Promise<Counts> }> {
  const harness = await bundleProgram('test/faults/faults.ts');
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', harness, '--json', '--seed', '20', ...args],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const output = Promise.all([text(child.stdout), text(child.stderr)]);
  const counts = output.then(([out, said]) => {
    if (out === '') throw new Error(`the harness broke off:\n${said}`);
    const told = result.parse(JSON.parse(out));
    if (told.violations.length > 0) throw new Error(said);
    return told.counts;
  });
  // The test that awaits `counts` gets the error. This handler only prevents an unhandled rejection.
  counts.catch(() => undefined);
  await once(child.stderr, 'data');
  return { counts };
}

async function faults(...args: string[]): Promise<Counts> {
  return (await begin(...args)).counts;
}

describe('a short run of the fault harness', () => {
  // These parts mostly wait for time limits of the programs. So they start first, and run in parallel.
  let stalls: Promise<Counts>;
  let disk: Promise<Counts>;
  let blackbox: Promise<Counts>;
  let answers: Promise<Counts>;
  beforeAll(async () => {
    stalls = (await begin('--only', 'stalls', '--rounds', '1')).counts;
    disk = (await begin('--only', 'disk', '--rounds', '1')).counts;
    blackbox = (await begin('--only', 'blackbox')).counts;
    answers = (await begin('--only', 'answers', '--rounds', '1')).counts;
  });

  it('R20 R21 R22 R65 after random kills of server and bridge, nothing is lost and no call runs twice', async () => {
    const counts = await faults('--only', 'kills', '--rounds', '1');
    expect(counts['kills: kills']).toBeGreaterThanOrEqual(10);
    expect(counts['kills: flows']).toBeGreaterThan(0);
  });

  it('R23 after a kill before or after an append, the journal keeps its entries and continues', async () => {
    const counts = await faults('--only', 'appends', '--from', '12', '--rounds', '2', '--lanes', '1');
    expect(counts['appends: deaths before an append']).toBe(2);
    expect(counts['appends: deaths after an append']).toBe(2);
  });

  it('R65 if the bridge is killed at a write of its outbox, the next bridge finishes the work once', async () => {
    const counts = await faults('--only', 'outbox', '--rounds', '10', '--lanes', '1');
    // Eight writes were seen for a delegation. The part ends at the first run without a kill.
    const { 'outbox: deaths before a write': before = 0, 'outbox: deaths after a write': after = 0 } = counts;
    for (const deaths of [before, after]) {
      expect(deaths).toBeGreaterThanOrEqual(4);
      expect(deaths).toBeLessThan(10);
    }
  });

  it('R99 a client that repeats its call after a kill before or after the response gets the same task', async () => {
    const counts = await faults('--only', 'repeats', '--rounds', '2');
    expect(counts['repeats: kills']).toBeGreaterThanOrEqual(8);
    expect(counts['repeats: repeated calls']).toBeGreaterThan(4);
    expect(counts['repeats: flows']).toBe(8);
  });

  it('R25 R27 R64 streams that are cut at any byte continue, no event is missing or repeated, and each command runs once', async () => {
    const counts = await faults('--only', 'proxy', '--rounds', '1', '--lanes', '1');
    expect(counts['proxy: cuts at a byte of the recorded stream']).toBeGreaterThan(100);
    expect(counts['proxy: cuts at a byte of the recorded command or its answer']).toBeGreaterThan(50);
    expect(counts['proxy: cuts at a byte of a delegation']).toBeGreaterThan(30);
  });

  it('R63 a request to a peer that never responds times out, and nothing is lost', async () => {
    const counts = await stalls;
    expect(counts['stalls: stalls']).toBeGreaterThanOrEqual(6);
    expect(counts['stalls: flows']).toBe(6);
  });

  it('R28 on a full disk, requests fail with a clear error; once there is space again, the work continues', async () => {
    const counts = await disk;
    // Only Linux can limit the file size of a running process.
    if (process.platform === 'linux') expect(counts['disk: times full']).toBeGreaterThan(0);
  });

  it('R63 the bridge answers malformed messages with typed errors, and valid calls between them as usual', async () => {
    const counts = await faults('--only', 'frames', '--rounds', '1');
    expect(counts['frames: malformed frames']).toBe(2_500);
    expect(counts['frames: answered with an error']).toBeGreaterThan(100);
    expect(counts['frames: answered with a sentence']).toBeGreaterThan(10);
  });

  it('R63 malformed responses of agents never stop the bridge, and each call gets a result', async () => {
    const counts = await answers;
    expect(counts['answers: malformed answers and events']).toBeGreaterThanOrEqual(1_000);
    expect(counts['answers: calls that failed with a sentence']).toBeGreaterThan(100);
    expect(counts['answers: calls that came through']).toBeGreaterThan(100);
  });

  const replicasTest = whyNoPostgres === undefined ? it : it.skip;
  replicasTest(
    'R112 R113 R114 when three servers on one PostgreSQL are killed, stopped and cut off, no event is lost or repeated, and no call runs twice',
    async () => {
      const counts = await faults('--only', 'replicas', '--rounds', '1');
      expect(counts['replicas: faults']).toBeGreaterThanOrEqual(10);
      expect(counts['replicas: flows']).toBeGreaterThan(0);
    },
  );

  it('the black-box test passes our server and fails a server that forgets its tasks', async () => {
    const counts = await blackbox;
    expect(counts['blackbox: scenarios held by our server, A2A 1.0']).toBe(14);
    // A2A 0.3 cannot list tasks.
    expect(counts['blackbox: scenarios held by our server, A2A 0.3']).toBe(13);
    expect(counts['blackbox: scenarios lost by the bare server, A2A 1.0']).toBeGreaterThan(3);
    expect(counts['blackbox: scenarios lost by the bare server, A2A 0.3']).toBeGreaterThan(3);
  });
});

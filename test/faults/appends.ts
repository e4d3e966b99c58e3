/**
 * R23: kills the server at each append of a run. One run kills it before the append, and one after the append is
 * durable.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { A2aFlow } from './a2a-flow.ts';
import { Disconnected } from './a2a-client.ts';
import { must, type Findings } from './findings.ts';
import { checkFlow, readJournalFile, type JournalOnDisk } from './flow-checks.ts';
import { Place } from './place.ts';
import type { Programs } from './programs.ts';
import { Random } from './random.ts';
import { Verdicts } from './verdicts.ts';
import { fixedWorkload } from './workload.ts';

export const SIDES = ['before', 'after'] as const;
export type Side = (typeof SIDES)[number];

/** A flow that needs more requests than this has failed. A normal flow needs far fewer. */
const MAX_STEPS = 100;

/**
 * Kills the server once, at this append, and checks all guarantees.
 * @returns false if the run ended before this append
 */
export async function deathAtAppend(
  where: { number: number; side: Side },
  programs: Programs,
  findings: Findings,
): Promise<boolean> {
  const { number, side } = where;
  // Each run must repeat the same flow, so the seed has no round.
  const random = new Random(findings.seed, 'appends');
  const place = await Place.open({ programs, random: new Random(findings.seed, 'appends', number, side) });
  try {
    const workload = fixedWorkload('run');
    const flow = new A2aFlow({
      workload,
      workspace: place.home.workspace,
      random,
      verdicts: new Verdicts(random),
    });
    const env = { FAULTS_DIE_AT: `${side}:${number}` };
    const dying = place.start({ program: await programs.dyingServer(), env });
    await finish(flow, place);
    if (flow.done) return false;
    await dying.exited;
    await place.endServer();
    const before = await journalLeftBehind(place.journalPath);
    await finish(flow, place);
    must(flow.done, 'a connection broke although no fault was active');
    const client = await place.client();
    await checkFlow('appends', flow, { client, workspace: place.home.workspace, seen: [], findings });
    await place.stopServer();
    mustBegin(before, await readJournalFile(place.journalPath));
    findings.count(`appends: deaths ${side} an append`);
    return true;
  } finally {
    await place.close();
  }
}

/** Repeats the flow's next request until the flow is done or the server has died. */
async function finish(flow: A2aFlow, place: Place): Promise<void> {
  for (let steps = 0; !flow.done; steps++) {
    must(steps < MAX_STEPS, `the flow has not ended after ${steps} requests`);
    try {
      await flow.step(await place.client());
    } catch (error) {
      if (error instanceof Disconnected) return;
      throw error;
    }
  }
}

/** Opens a copy, because the next server must find the files unchanged. */
async function journalLeftBehind(path: string): Promise<JournalOnDisk> {
  const copy = await mkdtemp(join(tmpdir(), 'mcp-a2a-bridge-journal-'));
  try {
    for (const file of ['', '-wal']) await cp(`${path}${file}`, join(copy, `journal.db${file}`));
    return await readJournalFile(join(copy, 'journal.db'));
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

function mustBegin(before: JournalOnDisk, after: JournalOnDisk): void {
  for (const [taskId, entries] of before) {
    const now = after.get(taskId)?.slice(0, entries.length) ?? [];
    must(
      isDeepStrictEqual(now, entries),
      () => `the journal of ${taskId} no longer begins with the entries from before the kill`,
    );
  }
}

/** The parts of a run. Each part has rounds. */
import { answersRound } from './answers.ts';
import { deathAtAppend, SIDES } from './appends.ts';
import { diskRound } from './disk.ts';
import type { FaultDatabase } from './fault-database.ts';
import type { Findings } from './findings.ts';
import { framesRound } from './frames.ts';
import { killsRound } from './kills.ts';
import { deathsAtWrite } from './outbox.ts';
import type { Programs } from './programs.ts';
import { proxyRound } from './proxy.ts';
import { replicasRound } from './replicas.ts';
import { repeatsRound } from './repeats.ts';
import { stallsRound } from './stalls.ts';

export const PARTS = [
  'kills',
  'appends',
  'outbox',
  'repeats',
  'proxy',
  'stalls',
  'disk',
  'frames',
  'answers',
  'blackbox',
  'replicas',
] as const;
export type Part = (typeof PARTS)[number];

export interface Run {
  programs: Programs;
  /** The PostgreSQL for the part "replicas". */
  database: () => Promise<FaultDatabase>;
  findings: Findings;
  /** The number of the first round is `from`, and the number of rounds is `rounds`. */
  from: number;
  rounds: number;
  /** The number of parallel rounds. */
  lanes: number;
  /** No round starts after this time, on the clock of `performance.now()`. */
  until: number;
}

/**
 * Runs one part. The part "appends" ends after the last append of its run, and other parts end after their rounds.
 */
export async function runPart(part: Exclude<Part, 'blackbox'>, run: Run): Promise<void> {
  const { findings } = run;
  const began = performance.now();
  let more = true;
  await sideBySide(run, async (round) => {
    if (!more) return;
    await findings.round(part, round, async () => {
      more = (await ROUNDS[part](round, run)) && more;
    });
    const seconds = Math.round((performance.now() - began) / 1000);
    findings.say(`${part}: round ${round}, after ${seconds} s: ${summary(part, findings)}`);
  });
  findings.count(`${part}: seconds`, Math.round((performance.now() - began) / 1000));
}

/**
 * Runs one round.
 * @returns true if another round can follow
 */
const ROUNDS: Record<Exclude<Part, 'blackbox'>, (round: number, run: Run) => Promise<boolean>> = {
  async kills(round, { programs, findings }) {
    await killsRound(round, programs, findings);
    return true;
  },
  async appends(round, { programs, findings }) {
    const died: boolean[] = [];
    for (const side of SIDES) died.push(await deathAtAppend({ number: round, side }, programs, findings));
    return died.includes(true);
  },
  async outbox(round, { programs, findings }) {
    return deathsAtWrite(round, programs, findings);
  },
  async repeats(round, { programs, findings }) {
    await repeatsRound(round, programs, findings);
    return true;
  },
  async proxy(round, { programs, findings }) {
    await proxyRound(round, programs, findings);
    return true;
  },
  async stalls(round, { programs, findings }) {
    await stallsRound(round, programs, findings);
    return true;
  },
  async disk(round, { programs, findings }) {
    await diskRound(round, programs, findings);
    return true;
  },
  async frames(round, { programs, findings }) {
    await framesRound(round, programs, findings);
    return true;
  },
  async answers(round, { programs, findings }) {
    await answersRound(round, programs, findings);
    return true;
  },
  async replicas(round, { programs, findings, database }) {
    await replicasRound(round, { programs, findings, database: await database() });
    return true;
  },
};

function summary(part: Part, findings: Findings): string {
  const told: Record<Part, string[]> = {
    kills: ['kills', 'flows', 'events'],
    appends: ['deaths before an append', 'deaths after an append', 'flows'],
    outbox: ['deaths before a write', 'deaths after a write', 'flows'],
    repeats: ['kills', 'repeated calls', 'flows'],
    proxy: ['cuts', 'flows', 'events'],
    stalls: ['stalls', 'flows', 'events'],
    disk: ['times full', 'flows', 'events'],
    frames: ['malformed frames', 'answered with an error', 'answered with a sentence'],
    answers: ['malformed answers and events', 'calls that failed with a sentence', 'calls that came through'],
    blackbox: [],
    replicas: ['faults', 'kills', 'flows', 'events'],
  };
  const counts = told[part].map((what) => `${findings.counted(`${part}: ${what}`)} ${what}`);
  return [...counts, `${findings.violations.length} violations`].join(', ');
}

async function sideBySide(
  { from, rounds, lanes, until }: Run,
  work: (round: number) => Promise<void>,
): Promise<void> {
  let next = from;
  const lane = async (): Promise<void> => {
    while (next < from + rounds && performance.now() < until) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(lanes, rounds)) }, lane));
}

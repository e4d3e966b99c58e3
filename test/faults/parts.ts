/** The parts of a run, each a number of rounds. */
import { deathAtAppend, SIDES } from './appends.ts';
import type { Subject } from './asked.ts';
import { blackbox } from './blackbox.ts';
import { diskRound } from './disk.ts';
import { must, type Findings } from './findings.ts';
import { killsRound } from './kills.ts';
import { deathAtWrite } from './outbox.ts';
import type { Programs } from './programs.ts';
import { proxyRound } from './proxy.ts';
import { stallsRound } from './stalls.ts';
import type { Row } from './scenarios.ts';
import { bareServer, ourServer, type Lent } from './subjects.ts';

export const PARTS = ['kills', 'appends', 'outbox', 'proxy', 'stalls', 'disk', 'blackbox'] as const;
export type Part = (typeof PARTS)[number];

export interface Run {
  programs: Programs;
  findings: Findings;
  /** The first round, and how many. */
  from: number;
  rounds: number;
  /** Rounds side by side. */
  lanes: number;
  /** No round is begun after this, on the clock of `performance.now()`. */
  until: number;
}

/** The appends part ends with the run it kills, the others with their rounds. */
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

/** @returns whether there can be another round. */
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
    const died: boolean[] = [];
    for (const side of SIDES) died.push(await deathAtWrite({ number: round, side }, programs, findings));
    return died.includes(true);
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
};

function summary(part: Part, findings: Findings): string {
  const told: Record<Part, string[]> = {
    kills: ['kills', 'flows', 'events'],
    appends: ['deaths before an append', 'deaths after an append', 'flows'],
    outbox: ['deaths before a write', 'deaths after a write', 'flows'],
    proxy: ['cuts', 'flows', 'events'],
    stalls: ['stalls', 'flows', 'events'],
    disk: ['times full', 'flows', 'events'],
    blackbox: [],
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

/** Our own server must hold everything; the bare one must lose something, or the harness could not tell. */
export async function runOwnBlackbox({ programs, findings }: Run): Promise<void> {
  await findings.round('blackbox', 1, async () => {
    const began = performance.now();
    const [ours, bare] = await Promise.all([
      tableOf(ourServer(programs, findings.seed)),
      tableOf(bareServer()),
    ]);
    findings.count('blackbox: seconds', Math.round((performance.now() - began) / 1000));
    findings.say(tableText('blackbox: our server', ours));
    findings.count(
      'blackbox: scenarios held by our server',
      ours.filter((row) => row.verdict === 'held').length,
    );
    const missing = ours.filter(({ verdict }) => verdict !== 'held');
    must(missing.length === 0, () => missing.map(({ scenario, note }) => `${scenario}: ${note}`).join('; '));
    findings.say(tableText("blackbox: the SDK's own request handler, for comparison", bare));
    const losses = bare.filter(({ verdict }) => verdict === 'lost').length;
    findings.count('blackbox: scenarios lost by the bare server', losses);
    must(losses > 0, 'a server that is known to forget lost nothing: the harness sees nothing');
  });
}

async function tableOf(lent: Promise<Lent>): Promise<Row[]> {
  const { subject, close } = await lent;
  try {
    return await blackbox(subject);
  } finally {
    await close();
  }
}

/** Somebody's server: what it loses is told, and counts as failure. */
export async function runBlackboxOn(subject: Subject, findings: Findings): Promise<Row[]> {
  const rows = await blackbox(subject);
  findings.say(tableText(`blackbox: ${subject.url}`, rows));
  for (const { scenario, verdict, note } of rows)
    if (verdict === 'lost') findings.violation({ part: 'blackbox', round: 1, what: `${scenario}: ${note}` });
  return rows;
}

function tableText(title: string, rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ scenario }) => scenario.length));
  const lines = rows.map(({ scenario, verdict, note }) =>
    `  ${scenario.padEnd(width)}  ${verdict.padEnd(13)}  ${note}`.trimEnd(),
  );
  return [title, ...lines].join('\n');
}

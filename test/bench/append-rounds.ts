/** Measures a journal's appends and reads against bare inserts of the same driver, in interleaved rounds. */
import type { Journal } from '../../a2a-server/journal/journal.ts';
import { beginning, continuing, delta, working } from '../support/journal-samples.ts';
import type { Figure } from './benchmark.ts';
import { medianOf } from './statistics.ts';

export const EVENTS = 20_000;
export const PER_COMMIT = 100;
/** The aim: the journal reaches at least half the rate of bare inserts. */
const RATIO_AIM = 0.5;
export const event = delta('some fifty characters of text, as a model streams.');

/**
 * Rates are events per second: medians of the rounds. A ratio compares the journal with the bare inserts of the same
 * round. The journal also checks each append, keeps the index and returns the entries.
 * @param bareInserts inserts `EVENTS` rows, and returns events per second
 * @param options `rounds` is odd, so that the median is the value of one round. `commit` names one bare commit.
 */
export async function measureAppends(
  journal: Journal,
  bareInserts: (round: number) => number | Promise<number>,
  { rounds, commit }: { rounds: number; commit: string },
): Promise<Figure[]> {
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const bare = await bareInserts(round);
    const grouped = await appends(journal, `grouped ${round}`);
    const together = await appendsTogether(journal, `together ${round}`);
    const read = await readAll(journal, `grouped ${round}`);
    measured.push({ bare, grouped, together, read });
  }
  return figures(measured, commit);
}

/** The rates of one round, in events per second. */
interface Round {
  bare: number;
  grouped: number;
  together: number;
  read: number;
}

function figures(rounds: readonly Round[], commit: string): Figure[] {
  const rate = (name: string, of: keyof Round): Figure => ({
    name,
    ...medianOf(rounds.map((round) => round[of])),
    unit: 'events/s',
  });
  const ratio = (name: string, of: keyof Round): Figure => ({
    name,
    ...medianOf(rounds.map((round) => round[of] / round.bare)),
    unit: 'ratio',
    aim: { at: 'least', value: RATIO_AIM },
  });
  return [
    ratio('appends of 100 events to bare inserts', 'grouped'),
    ratio('appends of 1 event, 100 at once, to bare inserts', 'together'),
    rate(`bare inserts, 100 a ${commit}`, 'bare'),
    rate('appends of 100 events, one after another', 'grouped'),
    rate('appends of 1 event, 100 at once', 'together'),
    rate('reads of 100 entries', 'read'),
  ];
}

/** Returns events per second. */
async function appends(journal: Journal, taskId: string): Promise<number> {
  await journal.append(beginning(taskId, { events: [working] }));
  const events = Array.from({ length: PER_COMMIT }, () => event);
  const started = performance.now();
  for (let seq = 2; seq < EVENTS + 2; seq += PER_COMMIT) {
    await journal.append(continuing(taskId, seq, events, 'working'));
  }
  return rateSince(started);
}

/** Returns events per second. */
async function appendsTogether(journal: Journal, taskId: string): Promise<number> {
  await journal.append(beginning(taskId, { events: [working] }));
  const started = performance.now();
  for (let seq = 2; seq < EVENTS + 2; seq += PER_COMMIT) {
    const together = Array.from({ length: PER_COMMIT }, (_, index) =>
      journal.append(continuing(taskId, seq + index, [event], 'working')),
    );
    await Promise.all(together);
  }
  return rateSince(started);
}

/** Returns events per second. */
async function readAll(journal: Journal, taskId: string): Promise<number> {
  const started = performance.now();
  let after = 2;
  while (after < EVENTS + 2) after += (await journal.read(taskId, after, PER_COMMIT)).length;
  return rateSince(started);
}

export function rateSince(started: number): number {
  return (EVENTS / (performance.now() - started)) * 1_000;
}

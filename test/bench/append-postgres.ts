/** Compares the journal on PostgreSQL with bare inserts into the same database, with the same driver. */
import { Client } from 'pg';
import { openPostgresJournal } from '../../a2a-server/journal/postgres/postgres-journal.ts';
import { startPostgres, whyNoPostgres } from '../support/postgres-server.ts';
import { appends, appendsTogether, event, EVENTS, PER_COMMIT, rateSince, readAll } from './append.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { medianOf } from './statistics.ts';

/** An odd number, so that the median is the value of one round. */
const ROUNDS = 3;
/** The aim: the journal reaches at least half the rate of bare inserts. */
const RATIO_AIM = 0.5;

interface Round {
  bare: number;
  grouped: number;
  together: number;
  read: number;
}

/** Rates are events per second: medians of interleaved rounds. PostgreSQL waits for the disk at each commit. */
export const appendPostgres: Benchmark = {
  id: 'append-postgres',
  title:
    'append to the journal on PostgreSQL, against bare inserts of the same driver at the same durability',
  async run({ note }) {
    if (whyNoPostgres !== undefined) {
      note(whyNoPostgres);
      return [];
    }
    const server = await startPostgres('fsync=on');
    try {
      const url = await server.createDatabase();
      const journal = await openPostgresJournal({ url, clock: Date.now });
      const rounds: Round[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const bare = await bareInserts(url, round);
        const grouped = await appends(journal, `grouped ${round}`);
        const together = await appendsTogether(journal, `together ${round}`);
        const read = await readAll(journal, `grouped ${round}`);
        rounds.push({ bare, grouped, together, read });
      }
      await journal.close();
      return figures(rounds);
    } finally {
      await server.dispose();
    }
  },
};

function figures(rounds: readonly Round[]): Figure[] {
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
    rate('bare inserts, 100 a statement', 'bare'),
    rate('appends of 100 events, one after another', 'grouped'),
    rate('appends of 1 event, 100 at once', 'together'),
    rate('reads of 100 entries', 'read'),
  ];
}

async function bareInserts(url: string, round: number): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const table = `bare_${round}`;
  await client.query(`CREATE TABLE ${table} (seq integer PRIMARY KEY, at bigint, body text)`);
  const text = `INSERT INTO ${table} SELECT * FROM unnest($1::int[], $2::bigint[], $3::text[])`;
  const started = performance.now();
  for (let seq = 1; seq <= EVENTS; seq += PER_COMMIT) {
    const rows = Array.from({ length: PER_COMMIT }, (_, index) => seq + index);
    const values = [rows, rows.map(() => Date.now()), rows.map(() => JSON.stringify(event))];
    await client.query({ name: table, text, values });
  }
  const rate = rateSince(started);
  await client.end();
  return rate;
}

/** Compares the journal on PostgreSQL with bare inserts into the same database, with the same driver. */
import { Client } from 'pg';
import { openPostgresJournal } from '../../a2a-server/journal/postgres/postgres-journal.ts';
import { startPostgres, whyNoPostgres } from '../support/postgres-server.ts';
import { event, EVENTS, measureAppends, PER_COMMIT, rateSince } from './append-rounds.ts';
import type { Benchmark } from './benchmark.ts';

/** PostgreSQL waits for the disk at each commit. */
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
      try {
        return await measureAppends(journal, (round) => bareInserts(url, round), {
          rounds: 3,
          commit: 'statement',
        });
      } finally {
        await journal.close();
      }
    } finally {
      await server.dispose();
    }
  },
};

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

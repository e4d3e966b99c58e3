/** Compares the journal with bare inserts into the same database, with the same driver and the same durability. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { openSqlite } from '../../shared/sqlite/driver.ts';
import { openSqliteJournal } from '../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { event, EVENTS, measureAppends, PER_COMMIT, rateSince } from './append-rounds.ts';
import type { Benchmark } from './benchmark.ts';

export const append: Benchmark = {
  id: 'append',
  title: 'append to the journal, against bare inserts of the same driver at the same durability',
  async run(context) {
    const directory = await mkdtemp(join(context.directory, 'append-'));
    const journal = await openSqliteJournal({ path: join(directory, 'journal.db'), clock: Date.now });
    try {
      const bare = (round: number): number => bareInserts(join(directory, `bare-${round}.db`));
      return await measureAppends(journal, bare, { rounds: 5, commit: 'commit' });
    } finally {
      await journal.close();
    }
  },
};

function bareInserts(path: string): number {
  const database = openSqlite(path, { busyTimeoutMs: 0 });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  database.exec('CREATE TABLE events (seq INTEGER PRIMARY KEY, at INTEGER, body TEXT) STRICT');
  const insert = database.command('INSERT INTO events VALUES (?, ?, ?)');
  const started = performance.now();
  for (let seq = 1; seq <= EVENTS; seq += PER_COMMIT) {
    database.transaction(() => {
      for (let i = 0; i < PER_COMMIT; i += 1) insert(seq + i, Date.now(), JSON.stringify(event));
    });
  }
  const rate = rateSince(started);
  database.close();
  return rate;
}

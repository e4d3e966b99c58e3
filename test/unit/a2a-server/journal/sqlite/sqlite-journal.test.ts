/** Runs the test suites of the journal port on the SQLite journal, with real files. */
import { describe } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteJournal } from '../../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { openSqlite } from '../../../../../shared/sqlite/driver.ts';
import { describeJournal } from '../../../../support/journal-contract/journal-contract.ts';
import { itBehavesLikeTheModel, withWatchedTasks } from '../../../../support/journal-properties.ts';

async function createStorage() {
  const directory = await mkdtemp(join(tmpdir(), 'journal-'));
  const path = join(directory, 'journal.db');
  return {
    open: (clock: () => number) => openSqliteJournal({ path, clock }),
    async execute(sql: string) {
      const database = openSqlite(path, { busyTimeoutMs: 1_000 });
      database.exec(sql);
      database.close();
    },
    dispose: () => rm(directory, { recursive: true }),
  };
}

describeJournal('the SQLite journal', createStorage);
itBehavesLikeTheModel(createStorage, 80);

describe('the SQLite journal while every task is watched', () => {
  itBehavesLikeTheModel(withWatchedTasks(createStorage), 80);
});

/** The SQLite journal under the suites that any journal must pass, on real files. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteJournal } from '../../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { describeJournal } from '../../../../support/journal-contract.ts';
import { itActsAsTheModel } from '../../../../support/journal-properties.ts';

async function createStorage() {
  const directory = await mkdtemp(join(tmpdir(), 'journal-'));
  return {
    open: (clock: () => number) => openSqliteJournal({ path: join(directory, 'journal.db'), clock }),
    dispose: () => rm(directory, { recursive: true }),
  };
}

describeJournal('the SQLite journal', createStorage);
itActsAsTheModel(createStorage, 80);

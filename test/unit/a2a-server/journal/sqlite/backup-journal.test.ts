import { expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { backupJournal, restoreJournal } from '../../../../../a2a-server/journal/sqlite/backup-journal.ts';
import { openSqliteJournal } from '../../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { beginning } from '../../../../support/journal-samples.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

it('R102 a restore keeps the copy of a damaged write-ahead log, also if the journal has no tasks', async () => {
  const directory = await temporaryDirectory();
  const source = join(directory, 'source.db');
  const path = join(directory, 'journal.db');
  const backup = join(directory, 'tasks.backup');
  const journal = await openSqliteJournal({ path: source, clock: () => 1 });
  await journal.append(beginning('a'));
  await journal.close();
  backupJournal(source, backup);
  await (await openSqliteJournal({ path, clock: () => 1 })).close();
  await writeFile(`${path}-wal.damaged`, 'lost tasks');
  const { movedTo = '' } = await restoreJournal(backup, path, { replace: true });
  expect(await readFile(join(movedTo, 'journal.db-wal.damaged'), 'utf8')).toBe('lost tasks');
});

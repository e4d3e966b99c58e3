import { expect, it } from '@jest/globals';
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
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

it('R102 a backup removes the drafts of killed backups, and keeps all other files', async () => {
  const directory = await temporaryDirectory();
  const source = join(directory, 'source.db');
  const journal = await openSqliteJournal({ path: source, clock: () => 1 });
  await journal.append(beginning('a'));
  await journal.close();
  const abandoned = ['', '-wal', '-shm', '-journal'].map((end) => `a2a-server-draft-0123456789ab${end}`);
  const recent = 'a2a-server-draft-ba9876543210';
  const others = ['tasks.backup.202611291200', 'a2a-server-draft'];
  for (const name of [...abandoned, recent, ...others]) await writeFile(join(directory, name), '');
  const twoDaysAgo = Date.now() / 1000 - 2 * 24 * 60 * 60;
  // A directory cannot be removed like a file, so it stays.
  const directoryName = 'a2a-server-draft-aaaaaaaaaaaa';
  await mkdir(join(directory, directoryName));
  for (const name of [...abandoned, ...others, directoryName])
    await utimes(join(directory, name), twoDaysAgo, twoDaysAgo);
  const before = await readdir(directory);
  backupJournal(source, join(directory, 'tasks.backup'));
  const expected = [...before.filter((name) => !abandoned.includes(name)), 'tasks.backup'];
  expect((await readdir(directory)).toSorted()).toEqual(expected.toSorted());
});

/** Tests the last-commits file, a small file next to the journal that says what the journal must contain. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { copyFile, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Journal } from '../../../../../a2a-server/journal/journal.ts';
import { detectLostCommitsUnlocked } from '../../../../../a2a-server/journal/sqlite/journal-loss.ts';
import {
  readLastCommits,
  removeLastCommits,
} from '../../../../../a2a-server/journal/sqlite/last-commits-file.ts';
import { openSqliteJournal } from '../../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { openSqlite } from '../../../../../shared/sqlite/driver.ts';
import { beginning, completed, continuing, delta, working } from '../../../../support/journal-samples.ts';
import { untilFileContains } from '../../../../support/file-watch.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

let path: string;
let journal: Journal;

beforeEach(async () => {
  path = join(await temporaryDirectory(), 'journal.db');
  journal = await openSqliteJournal({ path, clock: () => 1 });
});
afterEach(() => journal.close());

async function reopen(): Promise<void> {
  await journal.close();
  journal = await openSqliteJournal({ path, clock: () => 1 });
}

function change(sql: string): void {
  const database = openSqlite(path, { busyTimeoutMs: 1_000 });
  database.exec(sql);
  database.close();
}

describe('the last-commits file, a file that says what the journal contains', () => {
  it('the last-commits file of a closed journal contains its tasks, the last position of each, and the size of the file', async () => {
    await journal.append(beginning('a', { events: [working] }));
    await journal.append(beginning('b'));
    await journal.append(continuing('a', 2, [delta('x')], 'working'));
    await journal.close();
    expect(readLastCommits(path)).toEqual({
      version: 1,
      tasks: 2,
      bytes: (await stat(path)).size,
      recent: [
        ['b', 2],
        ['a', 3],
      ],
    });
  });

  it('the last-commits file is written while the journal is open', async () => {
    await journal.append(beginning('a'));
    await untilFileContains(`${path}.mark`, '"tasks":1');
  });

  it('the last-commits file names the 100 tasks that changed last, and counts all tasks', async () => {
    await Promise.all(Array.from({ length: 130 }, (_, i) => journal.append(beginning(`t${i}`))));
    await journal.close();
    const { tasks, recent } = readLastCommits(path) ?? {};
    expect(tasks).toBe(130);
    expect(recent?.map(([taskId]) => taskId)).toEqual(Array.from({ length: 100 }, (_, i) => `t${i + 30}`));
  });

  it('a journal that closes while it is about to delete sessions keeps them and its last-commits file', async () => {
    await journal.append(beginning('a', { events: [completed] }));
    const deletion = journal.deleteEndedSessions(2, 10);
    const closed = journal.close();
    await expect(deletion).rejects.toMatchObject({ reason: 'SHUTTING_DOWN' });
    await closed;
    expect(readLastCommits(path)).toMatchObject({ tasks: 1, recent: [['a', expect.any(Number)]] });
  });

  it('the last-commits file stays correct when sessions are deleted', async () => {
    await journal.append(beginning('a', { events: [completed] }));
    await journal.append(beginning('b'));
    expect(await journal.deleteEndedSessions(2, 10)).toBe(1);
    await reopen();
    expect(readLastCommits(path)).toMatchObject({ tasks: 1 });
    expect(await journal.row('b')).toBeDefined();
  });
});

it('a reader reports no loss while the server deletes sessions', async () => {
  await journal.append(beginning('a', { events: [completed] }));
  await journal.append(beginning('b'));
  await journal.close();
  const mark = readLastCommits(path);
  const database = openSqlite(path, { busyTimeoutMs: 1_000 });
  let deleted = false;
  // The server deletes the session after this reader has read the last-commits file.
  const beside = {
    ...database,
    query: (sql: string) => {
      if (!deleted) {
        deleted = true;
        removeLastCommits(path);
        change("UPDATE tasks SET principal = '', task_id = 'deleted-a' WHERE task_id = 'a'");
      }
      return database.query(sql);
    },
  };
  expect(mark).toMatchObject({ tasks: 2 });
  expect(detectLostCommitsUnlocked(beside, path)).toBeUndefined();
  database.close();
});

it('a journal that VACUUM has made smaller still opens', async () => {
  const events = Array.from({ length: 500 }, (_, i) => delta(`text ${i} `.repeat(100)));
  await journal.append(beginning('a', { events: [completed] }));
  await journal.append(beginning('b', { events: [...events, completed] }));
  await journal.close();
  const { size } = await stat(path);
  change('DELETE FROM events WHERE seq > 2 AND seq < 400; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
  expect((await stat(path)).size).toBeLessThan(size);
  await reopen();
  expect(await journal.row('b')).toBeDefined();
});

describe('R102 a journal with missing content', () => {
  it('a journal without a task that its last-commits file names is refused, each time', async () => {
    await journal.append(beginning('a'));
    await journal.append(beginning('b'));
    await journal.close();
    change('PRAGMA foreign_keys = OFF; DELETE FROM tasks WHERE task_id = "b"'.replaceAll('"', "'"));
    const before = await readFile(path);
    for (let times = 0; times < 2; times += 1)
      await expect(reopen()).rejects.toMatchObject({
        reason: 'CONFIGURATION',
        message: expect.stringContaining('1 task is missing (b)'),
        facts: { loss: 'missing', tasks: '1' },
      });
    expect((await readFile(path)).equals(before)).toBe(true);
  });

  it('a journal without events that its last-commits file names is refused', async () => {
    await journal.append(beginning('a', { events: [working] }));
    await journal.close();
    const earlier = `${path}.earlier`;
    await copyFile(path, earlier);
    await reopen();
    await journal.append(continuing('a', 2, [delta('x'), delta('y')], 'working'));
    await journal.close();
    await copyFile(earlier, path);
    await expect(reopen()).rejects.toMatchObject({
      message: expect.stringContaining('1 task has lost 2 events (a)'),
    });
  });
});

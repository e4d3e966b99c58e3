/** Tests the file of the SQLite journal: access rights, refused files and commits. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  chmod,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Journal } from '../../../../../a2a-server/journal/journal.ts';
import { openSqlite } from '../../../../../shared/sqlite/driver.ts';
import { openSqliteJournal } from '../../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { beginning, completed, continuing, delta, working } from '../../../../support/journal-samples.ts';
import { untilFileContains } from '../../../../support/file-watch.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const clock = () => 1;
let path: string;
let opened: Journal[];

beforeEach(async () => {
  path = join(await temporaryDirectory(), 'state', 'deeper', 'journal.db');
  opened = [];
});

afterEach(async () => {
  for (const journal of opened) await journal.close();
});

async function openJournal(at = path): Promise<Journal> {
  const journal = await openSqliteJournal({ path: at, clock });
  opened.push(journal);
  return journal;
}

async function change(sql: string): Promise<void> {
  const database = openSqlite(path, { busyTimeoutMs: 1_000 });
  database.exec(sql);
  database.close();
}

const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);

describe('the access rights of the journal file', () => {
  it('only the owner can access the journal and SQLite’s extra files, with any umask', async () => {
    const umask = process.umask(0);
    try {
      const journal = await openJournal();
      await journal.append(beginning('a'));
    } finally {
      process.umask(umask);
    }
    const directory = dirname(path);
    expect(await modeOf(directory)).toBe('700');
    expect(await modeOf(dirname(directory))).toBe('700');
    await untilFileContains(`${path}.mark`, '"tasks":1');
    const files = (await readdir(directory)).toSorted();
    expect(files).toEqual([
      'journal.db',
      'journal.db-shm',
      'journal.db-wal',
      'journal.db.mark',
      'journal.db.owner',
    ]);
    for (const file of files) expect([file, await modeOf(join(directory, file))]).toEqual([file, '600']);
  });

  it('opening the journal removes other users’ access to an existing file, but does not change an existing directory', async () => {
    await (await openJournal()).close();
    await chmod(path, 0o644);
    await chmod(dirname(path), 0o755);
    await openJournal();
    expect([await modeOf(path), await modeOf(dirname(path))]).toEqual(['600', '755']);
  });
});

describe('the journal’s lock', () => {
  it('the lock refuses a second open in one process, also by another path', async () => {
    await openJournal();
    const other = join(dirname(path), 'other-name.db');
    await symlink(path, other);
    for (const name of [path, other]) {
      await expect(openJournal(name)).rejects.toMatchObject({ reason: 'CONFIGURATION' });
    }
  });

  it('the lock is released when the journal is closed', async () => {
    await (await openJournal()).close();
    await (await openJournal()).close();
    await openJournal();
  });
});

describe('a file that the journal refuses', () => {
  it('R28 a file that is not a database is unchanged', async () => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, 'Dear diary, this is not a database. '.repeat(1_000));
    await expectRefusal({ reason: 'CONFIGURATION', message: expect.stringContaining('is not a database') });
  });

  it('R28 a file that belongs to another program is unchanged', async () => {
    await mkdir(dirname(path), { recursive: true });
    await change('CREATE TABLE recipes (name TEXT)');
    await expectRefusal({ reason: 'CONFIGURATION', message: expect.stringContaining('another program') });
  });

  it('R28 a file of a newer a2a-server is unchanged', async () => {
    await (await openJournal()).close();
    await change('PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)');
    await expectRefusal({ reason: 'CONFIGURATION', message: expect.stringContaining('update a2a-server') });
  });

  it('R28 a file with a damaged first page is unchanged', async () => {
    const journal = await openJournal();
    await journal.append(beginning('a'));
    await journal.close();
    await overwrite(path, { from: 100, length: 3_900 });
    await expectRefusal({ reason: 'STORAGE', message: expect.stringContaining('restore it from a backup') });
  });

  it('R28 a path below a file, a directory, and a name that is too long give the error STORAGE', async () => {
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'file'), '');
    for (const wrong of [path, join(path, 'file', 'journal.db'), join(path, 'x'.repeat(300))]) {
      await expect(openJournal(wrong)).rejects.toMatchObject({ reason: 'STORAGE' });
    }
  });

  it('R28 a file with damage after the first page gives STORAGE only for the calls that read the damaged part', async () => {
    const journal = await openJournal();
    await journal.append(
      beginning('damaged', { events: Array.from({ length: 2_000 }, (_, i) => delta(`text ${i}`)) }),
    );
    await journal.append(beginning('whole'));
    await journal.close();
    const { size } = await stat(path);
    await overwrite(path, { from: Math.floor(size / 2 / 4_096) * 4_096, length: 4 * 4_096 });
    const again = await openJournal();
    await expect(again.read('damaged', 0, 5_000)).rejects.toMatchObject({ reason: 'STORAGE' });
    expect(await again.read('whole', 0, 10)).toHaveLength(2);
    expect((await again.append(continuing('whole', 2, [working]))).type).toBe('appended');
  });

  it('R28 R102 a file that was truncated is refused, and unchanged', async () => {
    const journal = await openJournal();
    await journal.append(
      beginning('a', { events: Array.from({ length: 2_000 }, (_, i) => delta(`text ${i}`)) }),
    );
    await journal.close();
    await truncate(path, 4_096);
    await expectRefusal({
      reason: 'CONFIGURATION',
      message: expect.stringContaining('the file has 4096 bytes; before, it had '),
    });
  });
});

describe('the content of the journal', () => {
  it('an empty file from a crash during the first start becomes a journal', async () => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, '');
    expect((await (await openJournal()).append(beginning('a'))).type).toBe('appended');
  });

  it('after close the journal can be moved as one file', async () => {
    const journal = await openJournal();
    await journal.append(beginning('a'));
    await journal.close();
    const moved = join(await temporaryDirectory(), 'moved.db');
    await rename(path, moved);
    expect((await (await openJournal(moved)).row('a'))?.seq).toBe(2);
  });

  it('J1 an entry is visible to other readers of the file before a watcher or the writer is notified', async () => {
    const journal = await openJournal();
    const witness = openSqlite(path, { busyTimeoutMs: 1_000 });
    const count = witness.query('SELECT count(*) FROM events');
    const seen: unknown[] = [];
    journal.watch('a', () => seen.push(count()[0]?.[0]));
    await journal.append(beginning('a'));
    seen.push(count()[0]?.[0]);
    witness.close();
    expect(seen).toEqual([2, 2]);
  });
});

describe('a journal file that is moved or replaced while the journal is open', () => {
  it('E3 appends are refused, and the server is not ready, until the file is back', async () => {
    const journal = await openJournal();
    await journal.append(beginning('a'));
    const refusal = { reason: 'STORAGE', message: expect.stringContaining('deleted, moved or replaced') };
    const away = `${path}.away`;
    await rename(path, away);
    await expect(journal.append(beginning('b'))).rejects.toMatchObject(refusal);
    expect(journal.reachable()).toBe(false);
    await writeFile(path, '');
    await expect(journal.append(beginning('b'))).rejects.toMatchObject(refusal);
    expect(journal.reachable()).toBe(false);
    await rename(away, path);
    expect(journal.reachable()).toBe(true);
    await journal.append(beginning('c'));
    expect([await journal.row('b'), await journal.row('c')]).toMatchObject([undefined, { seq: 2 }]);
  });

  it('the maintenance and the close of the old journal do not change the last-commits file of the new one', async () => {
    const journal = await openJournal();
    await journal.append(beginning('a', { events: [completed] }));
    await untilFileContains(`${path}.mark`, '"tasks":1');
    for (const name of await readdir(dirname(path))) await rm(join(dirname(path), name));
    const next = await openJournal();
    await next.append(beginning('b'));
    await untilFileContains(`${path}.mark`, '"b"');
    const deleted = { reason: 'STORAGE', message: expect.stringContaining('deleted') };
    await expect(journal.deleteEndedSessions(2, 10)).rejects.toMatchObject(deleted);
    await expect(journal.maintain(10)).rejects.toMatchObject(deleted);
    await journal.close();
    expect(await readFile(`${path}.mark`, 'utf8')).toContain('"b"');
  });
});

describe('group commit', () => {
  it('the appends of one turn of the event loop share one commit, also with conflicts', async () => {
    const journal = await openJournal();
    await journal.append(beginning('a', { events: [working] }));
    const before = await commitsOf(path);
    const together = Array.from({ length: 100 }, (_, i) =>
      journal.append(continuing('a', 2 + i, [delta('x')], 'working')),
    );
    const late = journal.append(continuing('a', 2, [delta('late')], 'working'));
    const other = journal.append(beginning('b'));
    const types = (await Promise.all([...together, late, other])).map(({ type }) => type);
    expect(types.filter((type) => type === 'appended')).toHaveLength(101);
    expect((await late).type).toBe('conflict');
    expect((await commitsOf(path)) - before).toBe(1);
  });

  it('X3 appends with long events share no commit, so other work runs between their commits', async () => {
    const journal = await openJournal();
    const long = delta('x'.repeat(8_500_000));
    let turns = 0;
    let counter = setImmediate(function count() {
      turns += 1;
      counter = setImmediate(count);
    });
    const ends = await Promise.all(
      ['a', 'b', 'c'].map((taskId) =>
        journal.append(beginning(taskId, { events: [long] })).then(() => turns),
      ),
    );
    clearImmediate(counter);
    expect(new Set(ends).size).toBe(3);
  });

  it('single appends have one commit each', async () => {
    const journal = await openJournal();
    await journal.append(beginning('a', { events: [working] }));
    const before = await commitsOf(path);
    for (let seq = 2; seq < 12; seq += 1) await journal.append(continuing('a', seq, [delta('x')], 'working'));
    expect((await commitsOf(path)) - before).toBe(10);
  });
});

/** Counts the commits in the write-ahead log: a commit frame's header has the database size (SQLite file format, §4.1). */
async function commitsOf(database: string): Promise<number> {
  const log = await readFile(`${database}-wal`);
  const frame = 24 + log.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frame <= log.length; at += frame) {
    const isOfThisLog = log.readUInt32BE(at + 8) === log.readUInt32BE(16);
    if (isOfThisLog && log.readUInt32BE(at + 4) > 0) commits += 1;
  }
  return commits;
}

async function expectRefusal(refusal: object): Promise<void> {
  const before = await readFile(path);
  await expect(openJournal()).rejects.toMatchObject(refusal);
  expect((await readFile(path)).equals(before)).toBe(true);
}

async function overwrite(file: string, { from, length }: { from: number; length: number }): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(length, 0x5a), 0, length, from);
  await handle.close();
}

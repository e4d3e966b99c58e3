import { describe, expect, test } from '@jest/globals';
import { chmod, mkdir, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BridgeDatabase } from '../../../../bridge/state/database.ts';
import { databasePath } from '../../../../bridge/state/database-path.ts';
import { mayEarlierBridgeHaveLeftWork } from '../../../../bridge/state/may-earlier-bridge-have-left-work.ts';
import { openSqlite } from '../../../../shared/sqlite/driver.ts';
import { openDatabase } from '../../../support/bridge-database.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

describe("the bridge's database", () => {
  test('the database’s files are readable by their owner only, with any umask', async () => {
    const state = await temporaryDirectory();
    const before = process.umask(0);
    try {
      const database = await openDatabase(state);
      database.run(`DELETE FROM delegations`);
    } finally {
      process.umask(before);
    }
    for (const name of await readdir(state)) expect((await stat(join(state, name))).mode & 0o777).toBe(0o600);
  });

  test('B3 the database shows whether a process closed it or was killed', async () => {
    const state = await temporaryDirectory();
    expect(await mayEarlierBridgeHaveLeftWork(state)).toBe(false);
    const database = await BridgeDatabase.open(state);
    database.run(`DELETE FROM delegations`);
    expect(await mayEarlierBridgeHaveLeftWork(state)).toBe(true);
    database.close();
    expect(await mayEarlierBridgeHaveLeftWork(state)).toBe(false);
  });

  test('B3 if a delegation is open, the database shows it after the close, and after the garbage collection', async () => {
    const state = await temporaryDirectory();
    const openAndClose = async (sql: string): Promise<void> => {
      const database = await BridgeDatabase.open(state);
      database.run(sql);
      database.close();
    };
    await openAndClose(
      `INSERT INTO delegations (message_id, owner, agent, created_at, state, title, work, answered)
       VALUES ('m', '', 'agent', '2026-01-01T00:00:00.000Z', 'accepted', 'title', '{}', 0)`,
    );
    setFlagsFromString('--expose-gc');
    const collectGarbage: unknown = runInNewContext('gc');
    if (typeof collectGarbage !== 'function') throw new TypeError('the garbage collector is not callable');
    for (let count = 0; count < 3; count += 1) {
      collectGarbage();
      await nextTurn();
    }
    expect(await mayEarlierBridgeHaveLeftWork(state)).toBe(true);
    await openAndClose(`UPDATE delegations SET state = 'collected'`);
    expect(await mayEarlierBridgeHaveLeftWork(state)).toBe(false);
  });

  test('many bridges can open a new database at once', async () => {
    const state = await temporaryDirectory();
    const opened = await Promise.all(Array.from({ length: 8 }, () => openDatabase(state)));
    for (const each of opened) expect(each.rows('SELECT count(*) FROM delegations')).toEqual([[0]]);
  });

  test('the database leaves directories of an earlier version unchanged', async () => {
    const state = await temporaryDirectory();
    await mkdir(join(state, 'outbox', 'open'), { recursive: true });
    await writeFile(join(state, 'outbox', 'open', '1.1-x.json'), '{');
    const database = await openDatabase(state);
    expect(database.rows('SELECT count(*) FROM delegations')).toEqual([[0]]);
    expect(await readdir(join(state, 'outbox', 'open'))).toEqual(['1.1-x.json']);
  });

  test.each([
    [
      'a newer version',
      'PRAGMA application_id = 1630691682; PRAGMA user_version = 99',
      /newer mcp-a2a-bridge/,
    ],
    ['another program', 'CREATE TABLE theirs (a)', /database of another program/],
  ])('R28 a file of %s stays unchanged, and the error contains the next step', async (_, sql, sentence) => {
    const state = await temporaryDirectory();
    const other = openSqlite(databasePath(state), { busyTimeoutMs: 0 });
    other.exec(sql);
    other.close();
    const error: unknown = await BridgeDatabase.open(state).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: 'CONFIGURATION', message: expect.stringMatching(sentence) });
  });

  test('the writes of one turn of the event loop share a transaction: in order, and all or none', async () => {
    const database = await openDatabase(await temporaryDirectory());
    database.run('CREATE TABLE numbers (value INTEGER)');
    const add = (value: number) => () => void database.run('INSERT INTO numbers VALUES (?)', value);
    const values = () => database.rows('SELECT value FROM numbers').map(([value]) => value);

    const first = database.inOneCommit(add(1));
    void database.inOneCommit(() => database.transaction(add(2)));
    expect(values()).toEqual([]);
    await first;
    expect(values()).toEqual([1, 2]);

    const none = database.inOneCommit(add(3));
    const failing = database.inOneCommit(() => void database.run('INSERT INTO nothing VALUES (1)'));
    await expect(failing).rejects.toMatchObject({ reason: 'STORAGE' });
    await expect(none).rejects.toMatchObject({ reason: 'STORAGE' });
    expect(values()).toEqual([1, 2]);

    void database.inOneCommit(add(4));
    await database.written();
    expect(values()).toEqual([1, 2, 4]);
  });

  test('B1 if the file was deleted, moved or replaced, nothing is written to it', async () => {
    const database = await openDatabase(await temporaryDirectory());
    await rename(database.path, `${database.path}.away`);
    const refusal = expect.objectContaining({
      reason: 'STORAGE',
      message: expect.stringContaining('deleted'),
    });
    const sql = 'CREATE TABLE numbers (value INTEGER)';
    expect(() => database.run(sql)).toThrow(refusal);
    await writeFile(database.path, '');
    await expect(database.inOneCommit(() => void database.run(sql))).rejects.toEqual(refusal);
    await rm(database.path);
    // A link to itself makes the file system refuse the check, also for root.
    await symlink(database.path, database.path);
    const unchecked = expect.objectContaining({
      reason: 'STORAGE',
      message: expect.stringContaining('cannot be checked'),
    });
    expect(() => database.run(sql)).toThrow(unchecked);
    await expect(database.inOneCommit(() => void database.run(sql))).rejects.toEqual(unchecked);
    await rename(`${database.path}.away`, database.path);
    expect(database.rows(`SELECT name FROM sqlite_schema WHERE name = 'numbers'`)).toEqual([]);
    database.run(sql);
  });

  test('close completes the last writes', async () => {
    const state = await temporaryDirectory();
    const database = await BridgeDatabase.open(state);
    database.run('CREATE TABLE numbers (value INTEGER)');
    void database.inOneCommit(() => void database.run('INSERT INTO numbers VALUES (7)'));
    database.close();
    const next = await BridgeDatabase.open(state);
    expect(next.rows('SELECT value FROM numbers')).toEqual([[7]]);
    next.close();
  });

  test('R28 the error for a damaged file, another program’s file, or an impossible path names it, with the next step', async () => {
    const noDatabase = await temporaryDirectory();
    await writeFile(databasePath(noDatabase), 'hello, I am a text file and nothing else'.repeat(100));
    await expect(BridgeDatabase.open(noDatabase)).rejects.toMatchObject({
      reason: 'CONFIGURATION',
      message: expect.stringMatching(/bridge\.db cannot be used: the file is not a database/),
    });
    const forbidden = join(await temporaryDirectory(), 'state');
    await mkdir(databasePath(forbidden), { recursive: true });
    await chmod(forbidden, 0o700);
    await expect(BridgeDatabase.open(forbidden)).rejects.toMatchObject({
      reason: 'STORAGE',
      message: expect.stringContaining('bridge.db'),
    });
  });
});

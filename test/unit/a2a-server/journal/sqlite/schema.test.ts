import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { openSqlite } from '../../../../../shared/sqlite/driver.ts';
import { migrate } from '../../../../../a2a-server/journal/sqlite/schema.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const FIRST = 'CREATE TABLE one (a INTEGER); INSERT INTO one VALUES (1)';
const SECOND = 'UPDATE one SET a = a + 1; CREATE TABLE two (b INTEGER)';

async function openEmpty() {
  const path = join(await temporaryDirectory(), 'some.db');
  const database = openSqlite(path, { busyTimeoutMs: 0 });
  return {
    path,
    database,
    ask: (sql: string) => database.query(sql)()[0]?.[0],
    migrate: (...migrations: string[]) => migrate(database, path, migrations),
  };
}

describe('migrate, which upgrades the database', () => {
  it('migrate runs each migration once, in order, from any version', async () => {
    const { ask, migrate: run, database } = await openEmpty();
    run(FIRST);
    expect([ask('PRAGMA user_version'), ask('SELECT a FROM one')]).toEqual([1, 1]);
    run(FIRST, SECOND);
    run(FIRST, SECOND);
    expect([ask('PRAGMA user_version'), ask('SELECT a FROM one'), ask('SELECT count(*) FROM two')]).toEqual([
      2, 2, 0,
    ]);
    database.close();
  });

  it('migrate keeps the old version if a later migration fails', async () => {
    const { ask, migrate: run, database } = await openEmpty();
    run(FIRST);
    expect(() => run(FIRST, SECOND, 'CREATE TABLE three (c INTEGER); SELECT nonsense')).toThrow('nonsense');
    expect([ask('PRAGMA user_version'), ask('SELECT a FROM one')]).toEqual([1, 1]);
    expect(ask("SELECT count(*) FROM sqlite_schema WHERE name IN ('two', 'three')")).toBe(0);
    run(FIRST, SECOND);
    expect(ask('SELECT a FROM one')).toBe(2);
    database.close();
  });

  it('migrate sets the journal mode in which commits survive a power loss and readers never wait', async () => {
    const { ask, migrate: run, database } = await openEmpty();
    run(FIRST);
    const FULL = 2;
    expect([ask('PRAGMA journal_mode'), ask('PRAGMA synchronous'), ask('PRAGMA foreign_keys')]).toEqual([
      'wal',
      FULL,
      1,
    ]);
    database.close();
  });
});

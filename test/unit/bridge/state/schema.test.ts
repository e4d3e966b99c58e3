import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { migrate } from '../../../../bridge/state/schema.ts';
import { openSqlite, SqliteError, type Sqlite } from '../../../../shared/sqlite/driver.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

async function openEmpty(): Promise<{ path: string; open: () => Sqlite }> {
  const path = join(await temporaryDirectory(), 'state.db');
  return { path, open: () => openSqlite(path, { busyTimeoutMs: 1_000 }) };
}

describe('two bridges that create the database at the same time', () => {
  // The number of queries that the slower bridge has made when the faster one creates the tables.
  test.each([0, 1, 2])(
    'B5 the slower one accepts the database that appears after its query %d',
    async (at) => {
      const { path, open } = await openEmpty();
      const database = open();
      let queries = 0;
      const createByOther = (): void => {
        if (queries++ !== at) return;
        const other = open();
        migrate(other, path);
        other.close();
      };
      const slow: Sqlite = {
        ...database,
        query(sql) {
          const run = database.query(sql);
          return (...values) => {
            createByOther();
            return run(...values);
          };
        },
      };
      migrate(slow, path);
      expect(database.query('SELECT count(*) FROM delegations')()).toEqual([[0]]);
      database.close();
    },
  );

  test('B5 the slower one waits while the other one switches the journal mode', async () => {
    const { path, open } = await openEmpty();
    const database = open();
    let refusals = 2;
    const contended: Sqlite = {
      ...database,
      exec(sql) {
        // SQLite does not wait here: it refuses this statement at once if another connection has a lock.
        if (sql.includes('journal_mode') && refusals-- > 0)
          throw new SqliteError('SQLITE_BUSY', 'database is locked', undefined);
        database.exec(sql);
      },
    };
    migrate(contended, path);
    expect(database.query('PRAGMA journal_mode')()).toEqual([['wal']]);
    expect(database.query('PRAGMA synchronous')()).toEqual([[2]]);
    database.close();
  });

  test('R28 a lock that stays is an error', async () => {
    const { path, open } = await openEmpty();
    const database = open();
    const locked: Sqlite = {
      ...database,
      exec(sql) {
        if (sql.includes('journal_mode'))
          throw new SqliteError('SQLITE_BUSY', 'database is locked', undefined);
        database.exec(sql);
      },
    };
    expect(() => migrate(locked, path)).toThrow('database is locked');
    database.close();
  });
});

import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { openSqlite, SqliteError } from '../../../shared/sqlite/driver.ts';
import { withStorageErrors } from '../../../shared/sqlite/storage-error.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

describe('the explanation of a SQLite error', () => {
  it('R28 the explanation names a full disk', async () => {
    const path = join(await temporaryDirectory(), 'some.db');
    const database = openSqlite(path, { busyTimeoutMs: 0 });
    database.exec('CREATE TABLE t (a TEXT); PRAGMA max_page_count = 4');
    const insert = database.command('INSERT INTO t VALUES (?)');
    const fill = () => withStorageErrors(path, () => database.transaction(() => insert('x'.repeat(100_000))));
    const full = { reason: 'STORAGE', retryable: true, facts: { code: 'SQLITE_FULL' } };
    expect(fill).toThrow(
      expect.objectContaining({ ...full, message: expect.stringContaining('the disk is full') }),
    );
    // The failed transaction must not stay open.
    expect(database.transaction(() => insert('small'))).toBe(1);
    database.close();
  });

  it('R28 the explanation says that another process has locked the file', async () => {
    const path = join(await temporaryDirectory(), 'some.db');
    const [one, two] = [openSqlite(path, { busyTimeoutMs: 0 }), openSqlite(path, { busyTimeoutMs: 0 })];
    one.exec('BEGIN EXCLUSIVE');
    expect(() => withStorageErrors(path, () => two.exec('BEGIN IMMEDIATE'))).toThrow(
      /another process has locked it/,
    );
    one.close();
    two.close();
  });

  it('an unknown SQLite code has an explanation too, and other errors stay unchanged', () => {
    expect(fail(new SqliteError('SQLITE_MOON', 'the moon is full', undefined))).toThrow(
      'The journal journal.db cannot be used: the database refused the work (SQLITE_MOON).',
    );
    expect(fail(new RangeError('mine'))).toThrow(RangeError);
  });
});

const fail = (error: Error) => () =>
  withStorageErrors('journal.db', () => {
    throw error;
  });

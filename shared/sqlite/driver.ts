/**
 * Wraps the SQLite driver libsql. No other file uses it. This file works around three defects of libsql. A boolean
 * parameter ends the whole process, so the types of parameters are strict. `get` adds a member `_metadata` to a row, so
 * rows are arrays. An error of `open` has no code, so this file adds one.
 */
import Libsql from 'libsql';
import { errorMessageOf } from '../runtime/errors.ts';
import { fieldOf } from '../runtime/record.ts';
import type { SqlRow } from '../state/sql-row.ts';

export type SqliteValue = string | number | Uint8Array | null;
/** Runs a prepared query and returns its rows. */
export type RunQuery = (...values: SqliteValue[]) => SqlRow[];
/** Runs a prepared statement and returns the number of changed rows. */
export type RunStatement = (...values: SqliteValue[]) => number;

/** An error of SQLite with its code, e.g. `SQLITE_FULL`. */
export class SqliteError extends Error {
  override readonly name = 'SqliteError';
  readonly code: string;

  constructor(code: string, message: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export interface Sqlite {
  /** Runs statements without parameters. @throws SqliteError, like all methods of this interface */
  exec(sql: string): void;
  /** Prepares a query. */
  query(sql: string): RunQuery;
  /** Prepares a statement that changes rows. */
  command(sql: string): RunStatement;
  /**
   * Runs `work` in one atomic transaction. The transaction takes the write lock when it starts, so no other process can
   * change the values that it reads.
   */
  transaction<Result>(work: () => Result): Result;
  close(): void;
}

/**
 * Opens the database at `path`. Creates an empty database if there is none.
 * @param busyTimeoutMs the maximum time that a statement waits for a lock of another process
 */
export function openSqlite(path: string, { busyTimeoutMs }: { busyTimeoutMs: number }): Sqlite {
  const database = withSqliteErrors(() => new Libsql(path, { timeout: busyTimeoutMs }), 'SQLITE_CANTOPEN');
  const exec = (sql: string): void => withSqliteErrors(() => void database.exec(sql));
  return {
    exec,
    query(sql) {
      const statement = withSqliteErrors(() => database.prepare(sql).raw());
      return (...values) => withSqliteErrors(() => statement.all(values).map(asRow));
    },
    command(sql) {
      const statement = withSqliteErrors(() => database.prepare(sql));
      return (...values) => withSqliteErrors(() => statement.run(values).changes);
    },
    transaction(work) {
      exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        exec('COMMIT');
        return result;
      } catch (error) {
        // After some failures, such as a full disk, SQLite has already rolled back. After all other failures, this line
        // rolls back.
        if (database.inTransaction) exec('ROLLBACK');
        throw error;
      }
    },
    close: () => void database.close(),
  };
}

function asRow(row: unknown): SqlRow {
  if (!Array.isArray(row)) throw new TypeError('the driver gave a row that is not an array');
  return row;
}

function withSqliteErrors<Result>(work: () => Result, otherwise = 'SQLITE_ERROR'): Result {
  try {
    return work();
  } catch (error) {
    const code = fieldOf(error, 'code');
    throw new SqliteError(
      typeof code === 'string' && code !== '' ? code : otherwise,
      errorMessageOf(error),
      error,
    );
  }
}

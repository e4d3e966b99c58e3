import { ProductError, type ErrorReason } from '../runtime/errors.ts';
import { DamagedDataError } from '../runtime/damaged-data-error.ts';
import { SqliteError } from './driver.ts';

const OTHERWISE = { reason: 'STORAGE', sentence: 'the database refused the work' } as const;

/**
 * The meaning of SQLite errors for a person. A key is the first part of an extended error code, e.g. `SQLITE_IOERR` for
 * `SQLITE_IOERR_WRITE`.
 */
const MEANINGS: Readonly<Record<string, { reason: ErrorReason; sentence: string }>> = {
  SQLITE_FULL: { reason: 'STORAGE', sentence: 'the disk is full: free some space, then try again' },
  SQLITE_IOERR: {
    reason: 'STORAGE',
    sentence: 'reading or writing failed: check the disk and its free space, then try again',
  },
  SQLITE_READONLY: {
    reason: 'STORAGE',
    sentence: 'it is read-only: make the file and its directory writable for this user',
  },
  SQLITE_CANTOPEN: {
    reason: 'STORAGE',
    sentence: 'it cannot be opened: check that it is a file in a directory this user may write to',
  },
  SQLITE_BUSY: {
    reason: 'STORAGE',
    sentence: 'another process has locked it: end that process, then try again',
  },
  // SQLite also gives this code if the disk fails to read a page (EIO).
  SQLITE_CORRUPT: {
    reason: 'STORAGE',
    sentence:
      'the disk could not read the file, or the file is damaged: try again. If this stays, check the disk, then restore it from a backup, or move it away to start with an empty one',
  },
  SQLITE_NOTADB: {
    reason: 'CONFIGURATION',
    sentence:
      'the file is not a database. Nothing was changed; move it away, or choose another state directory',
  },
};

/**
 * Runs `work` on the database at `path`. Converts an SQLite error or damaged data to a ProductError that names the next
 * step.
 * @param what the words for the database in the error message
 */
export function withStorageErrors<Result>(path: string, work: () => Result, what = 'The journal'): Result {
  try {
    return work();
  } catch (error) {
    throw storageError(path, error, what);
  }
}

/** Converts an SQLite error or damaged data as `withStorageErrors` does. Returns other errors unchanged. */
export function storageError(path: string, error: unknown, what = 'The journal'): unknown {
  const failure =
    error instanceof DamagedDataError ? new SqliteError('SQLITE_CORRUPT', error.message, error) : error;
  if (!(failure instanceof SqliteError)) return failure;
  const { reason, sentence } = MEANINGS[failure.code.split('_').slice(0, 2).join('_')] ?? OTHERWISE;
  return new ProductError(reason, `${what} ${path} cannot be used: ${sentence} (${failure.code}).`, {
    facts: { code: failure.code },
    cause: failure,
  });
}

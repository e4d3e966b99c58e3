/** Explains errors of PostgreSQL to a person. No message contains the user, the password or a value of a row. */
import { DamagedDataError } from '../../../shared/runtime/damaged-data-error.ts';
import { ProductError, type ErrorReason } from '../../../shared/runtime/errors.ts';
import { DAMAGED_EVENTS_CODE } from '../damaged-task.ts';
import { isDatabaseUnavailable, PostgresError } from './driver.ts';

/**
 * Thrown while another server upgrades the journal. Also thrown while an a2a-server of an old version uses the journal,
 * because that version does not share it. Both situations end, so a process manager may start this server again.
 */
export class DatabaseInUseError extends ProductError {
  constructor(label: string, cause: unknown) {
    super(
      'STORAGE',
      `Another server is upgrading the journal in the database ${label}, or an a2a-server of an older version uses it. Stop servers of an older version. Then start this one again, after the upgrade.`,
      { cause },
    );
  }
}

/**
 * Thrown if the database has lost this server's row in `nodes`, one of its commits, or entries of a watched task. A
 * process manager may start this server again.
 */
export class ServerRemovedError extends ProductError {
  constructor(label: string, cause: unknown) {
    super(
      'STORAGE',
      `The database ${label} does not know this server any more: the server was away for a day, or the database was restored or has lost commits. Start the server again.`,
      { cause },
    );
  }
}

interface ReasonAndSentence {
  reason: ErrorReason;
  sentence: string;
}

const UNAVAILABLE: ReasonAndSentence = {
  reason: 'STORAGE',
  sentence: 'cannot be reached: check that PostgreSQL runs and that this machine can connect to it',
};
const OTHERWISE: ReasonAndSentence = { reason: 'STORAGE', sentence: 'refused the work' };
const TOO_SLOW: ReasonAndSentence = {
  reason: 'STORAGE',
  sentence: 'has not answered in time: try again, and check its load and the network',
};
const WRONG_LOGIN: ReasonAndSentence = {
  reason: 'CONFIGURATION',
  sentence:
    'refuses the user or the password: check the URL in A2A_SERVER_DATABASE, PGPASSWORD, or the password file',
};

/** The keys are SQLSTATEs (PostgreSQL, appendix A), and `TIMEOUT` for the time limit of a request. */
const MEANINGS: Readonly<Record<string, ReasonAndSentence>> = {
  TIMEOUT: TOO_SLOW,
  '28P01': WRONG_LOGIN,
  '28000': WRONG_LOGIN,
  '3D000': {
    reason: 'CONFIGURATION',
    sentence: 'does not exist: create it with createdb, or correct the URL',
  },
  '3F000': {
    reason: 'CONFIGURATION',
    sentence: 'has no schema for the tables: create the schema of the search path',
  },
  '42501': {
    reason: 'CONFIGURATION',
    sentence: 'forbids its user to create or use the tables: grant CREATE and USAGE on the schema',
  },
  '42P07': {
    reason: 'CONFIGURATION',
    sentence:
      'contains tables of another program. Nothing was changed; give a2a-server its own database or schema',
  },
  '55P03': {
    reason: 'STORAGE',
    sentence:
      'is locked by another program, e.g. by pg_dump while this server upgrades its tables: wait for its end, then try again',
  },
  '53100': { reason: 'STORAGE', sentence: 'has no disk space left: free some space, then try again' },
  '53300': {
    reason: 'STORAGE',
    sentence: 'has no free connection: raise max_connections, or end other clients',
  },
  '54000': { reason: 'MALFORMED', sentence: 'cannot store an id of this length: choose a shorter one' },
  '25006': {
    reason: 'STORAGE',
    sentence: 'is read-only, such as a standby: connect to the primary server',
  },
};

/** Runs `work`. Converts its errors with `databaseError`. @param label the name of the database for messages */
export async function withDatabaseErrors<Result>(
  label: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw databaseError(label, error);
  }
}

/** Converts an error of the database to a ProductError that names the next step. Returns other errors unchanged. */
export function databaseError(label: string, error: unknown): unknown {
  if (error instanceof DamagedDataError)
    return new ProductError(
      'STORAGE',
      `The journal in the database ${label} is damaged (${error.message}). Restore it from a backup.`,
      { facts: { code: DAMAGED_EVENTS_CODE }, cause: error },
    );
  if (!(error instanceof PostgresError)) return error;
  const { reason, sentence } =
    MEANINGS[error.code] ?? (isDatabaseUnavailable(error) ? UNAVAILABLE : OTHERWISE);
  return new ProductError(reason, `The database ${label} ${sentence} (${error.code}).`, {
    facts: { code: error.code },
    cause: error,
  });
}

/** Stores records in the database, so that all of its servers share them. */
import { isRecordName, type RecordStore } from '../../records/record-store.ts';
import { textColumn } from '../validate-column-values.ts';
import { readDatabaseTime } from './database-clock.ts';
import { withDatabaseErrors } from './database-error.ts';
import { parseDatabaseUrl, openPostgresConnection, type QueryRunner } from './driver.ts';
import { requireCurrentSchema } from './schema.ts';

/**
 * The time between two calls of a watcher, in milliseconds. A call may cause queries. There are few watchers, so these
 * queries cost little.
 */
const QUERY_INTERVAL_MS = 1_000;

const READ = { name: 'read_record', text: 'SELECT value FROM records WHERE kind = $1 AND name = $2' };
/**
 * Finds the records whose name begins with `$2`, by a range of the primary key. The range contains all of them,
 * because the column has the collation "C" and no name has a character after `~`.
 */
const LIST = {
  name: 'list_records',
  text: "SELECT name, value FROM records WHERE kind = $1 AND name >= $2 AND name < $2 || '~'",
};
const CREATE = {
  name: 'create_record',
  text: 'INSERT INTO records (kind, name, value) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING name',
};
const REPLACE = {
  name: 'replace_record',
  text: `INSERT INTO records (kind, name, value) VALUES ($1, $2, $3)
         ON CONFLICT (kind, name) DO UPDATE SET value = excluded.value`,
};
const SWAP = {
  name: 'swap_record',
  text: 'UPDATE records SET value = $4 WHERE kind = $1 AND name = $2 AND value = $3 RETURNING name',
};
const REMOVE = {
  name: 'remove_record',
  text: 'DELETE FROM records WHERE kind = $1 AND name = $2 AND ($3::text IS NULL OR value = $3) RETURNING name',
};

/** @param ask runs the statements, and throws errors that name the database */
export function createPostgresRecordStore(ask: QueryRunner['query']): RecordStore {
  return {
    async read(kind, name) {
      if (!isRecordName(name)) return undefined;
      const [row] = await ask(READ, [kind, name]);
      return row && textColumn(row[0]);
    },
    async list(kind, prefix = '') {
      const rows = await ask(LIST, [kind, prefix]);
      return new Map(rows.map(([name, value]) => [textColumn(name), textColumn(value)]));
    },
    create: async (kind, name, value) =>
      (await ask(CREATE, [kind, requireRecordName(name), value])).length > 0,
    async replace(kind, name, value) {
      await ask(REPLACE, [kind, requireRecordName(name), value]);
    },
    swap: async (kind, name, { before, after }) =>
      isRecordName(name) && (await ask(SWAP, [kind, name, before, after])).length > 0,
    remove: async (kind, name, value) =>
      isRecordName(name) && (await ask(REMOVE, [kind, name, value ?? null])).length > 0,
    watch(_kind, wake) {
      const timer = setInterval(wake, QUERY_INTERVAL_MS).unref();
      return () => clearInterval(timer);
    },
  };
}

interface ExistingRecords extends RecordStore {
  /**
   * The time of the database when the records were opened, in milliseconds since 1970. The clock of the command's
   * machine may be wrong.
   */
  openedAt: number;
  close: () => void;
}

/**
 * Opens the records of a database for a command line, while servers may run.
 * @throws ProductError CONFIGURATION if no server has used the database, STORAGE
 */
export async function openExistingPostgresRecords(url: string): Promise<ExistingRecords> {
  const address = parseDatabaseUrl(url);
  const { label } = address;
  return withDatabaseErrors(label, async () => {
    let openedAt = 0;
    const connection = await openPostgresConnection(address, async (opened) => {
      await requireCurrentSchema(opened, label);
      openedAt = Math.round(await readDatabaseTime(opened));
    });
    const records = createPostgresRecordStore((statement, values) =>
      withDatabaseErrors(label, () => connection.query(statement, values)),
    );
    return { ...records, openedAt, close: () => connection.close() };
  });
}

function requireRecordName(name: string): string {
  if (isRecordName(name)) return name;
  throw new RangeError('this is no name of a record');
}

import { ProductError } from '../runtime/errors.ts';
import type { Sqlite } from './driver.ts';

/**
 * Returns the version of the schema, 0 for an empty file.
 * @param expected the application id of the database, and its name for the error
 * @throws ProductError CONFIGURATION for a database of another program
 */
export function readSchemaVersion(
  database: Sqlite,
  path: string,
  expected: { applicationId: number; name: string },
): number {
  const read = (sql: string): number => Number(database.query(sql)()[0]?.[0]);
  const tables = read('SELECT count(*) FROM sqlite_schema');
  const version = read('PRAGMA user_version');
  // The application id is read last. Another process may create the database between two of these reads. If the id were
  // read first, it could be 0 although the version is already set. The file would then look like a database of another
  // program.
  const applicationId = read('PRAGMA application_id');
  if (applicationId === expected.applicationId) return version;
  if (applicationId === 0 && version === 0 && tables === 0) return 0;
  throw new ProductError(
    'CONFIGURATION',
    `${path} is a database of another program, not ${expected.name}. Nothing was changed; move it away, or choose another state directory.`,
  );
}

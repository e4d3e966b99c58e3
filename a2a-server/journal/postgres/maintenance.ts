import { KEPT_DAYS } from '../written-amounts.ts';
import type { PostgresConnection } from './driver.ts';

/** The key of the lock for maintenance: "a2am" in ASCII, and a number for the schema. */
const LOCK_KEY = '1630694765, hashtext(current_schema())';

/**
 * Takes the lock that lets only one server at a time delete sessions and pack rows. The caller must have begun a
 * transaction, whose end releases the lock. Returns false if another server does this work now.
 */
export async function takeMaintenanceLock(connection: PostgresConnection): Promise<boolean> {
  const [[taken] = []] = await connection.query({ text: `SELECT pg_try_advisory_xact_lock(${LOCK_KEY})` });
  return taken === true;
}

/**
 * Deletes the amounts of days before the last KEPT_DAYS days.
 * @param today the UTC day of the database
 */
export async function removeOldWrittenAmounts(connection: PostgresConnection, today: number): Promise<void> {
  await connection.query({ name: 'remove_written', text: 'DELETE FROM written WHERE day < $1' }, [
    today - KEPT_DAYS,
  ]);
}

/** Reads the amounts that principals have written, and the sizes of tasks. `append_batch` writes them. */
import { tenantOf } from '../../access/requester.ts';
import { numberColumn } from '../validate-column-values.ts';
import {
  type DailyWrittenByScope,
  KEPT_DAYS,
  NOTHING_WRITTEN,
  type WrittenAmount,
} from '../written-amounts.ts';
import type { PostgresConnection, QueryRunner } from './driver.ts';

export async function readDailyWrittenByScope(
  database: QueryRunner,
  principal: string,
  day: number,
): Promise<DailyWrittenByScope> {
  const tenant = tenantOf(principal);
  const rows = await database.query(
    {
      name: 'daily_written',
      text: `SELECT scope, coalesce(sum(events), 0)::bigint, coalesce(sum(bytes), 0)::bigint
             FROM (VALUES ('principal'), ('tenant'), ('server')) AS asked (scope)
             LEFT JOIN written ON day = $1 AND CASE scope
               WHEN 'principal' THEN principal = $2
               WHEN 'tenant' THEN starts_with(principal, $3)
               ELSE true END
             GROUP BY scope`,
    },
    [day, principal, `${tenant ?? ''}/`],
  );
  const of = (scope: string): WrittenAmount => {
    const row = rows.find(([name]) => name === scope);
    return row === undefined
      ? NOTHING_WRITTEN
      : { events: numberColumn(row[1]), bytes: numberColumn(row[2]) };
  };
  return {
    principal: of('principal'),
    ...(tenant !== undefined && { tenant: of('tenant') }),
    server: of('server'),
  };
}

export async function readTaskSize(database: QueryRunner, taskId: string): Promise<WrittenAmount> {
  const [row] = await database.query(
    { name: 'task_size', text: 'SELECT seq, size FROM tasks WHERE task_id = $1' },
    [taskId],
  );
  return row === undefined ? NOTHING_WRITTEN : { events: numberColumn(row[0]), bytes: numberColumn(row[1]) };
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

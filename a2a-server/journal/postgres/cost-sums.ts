/** Reads the sums of costs. `append_batch` writes them. */
import type { CostRow } from '../../task/costs/cost-sum.ts';
import type { DailyBudgetUse } from '../../task/costs/daily-budget.ts';
import { nullableNumberColumn, numberColumn } from '../validate-column-values.ts';
import {
  ADD_COUNTS_ON_CONFLICT_SQL,
  COST_COLUMNS_SQL,
  COUNT_COLUMNS_SQL,
  DELETED_SESSIONS_ID,
  toCostRow,
} from '../cost-row.ts';
import type { CostFilter } from '../journal.ts';
import type { PostgresConnection, QueryRunner, PostgresValue } from './driver.ts';

export async function readCostRows(
  database: QueryRunner,
  { principal, fromDay, sessionId }: CostFilter,
): Promise<CostRow[]> {
  const values: PostgresValue[] = [principal];
  const conditions = ['principal = $1'];
  if (fromDay !== undefined) conditions.push(`day >= $${values.push(fromDay)}`);
  if (sessionId !== undefined) conditions.push(`session_id = $${values.push(sessionId)}`);
  const text = `SELECT ${COST_COLUMNS_SQL} FROM costs WHERE ${conditions.join(' AND ')}`;
  return (await database.query({ text }, values)).map(toCostRow);
}

export async function readDailyBudgetUse(
  database: QueryRunner,
  principal: string,
  day: number,
): Promise<DailyBudgetUse> {
  const [[usd, extendedAt] = []] = await database.query(
    {
      name: 'daily_use',
      text: `SELECT (SELECT coalesce(sum(known_usd), 0) FROM costs WHERE principal = $1 AND day = $2),
                    (SELECT usd FROM budget_extensions WHERE principal = $1 AND day = $2)`,
    },
    [principal, day],
  );
  return { day, usd: numberColumn(usd), extendedAt: nullableNumberColumn(extendedAt) };
}

/** Adds a session's sums to the sums of all deleted sessions. The caller must have begun a transaction. */
export async function mergeDeletedSessionCosts(
  connection: PostgresConnection,
  principal: string,
  sessionId: string,
): Promise<void> {
  await connection.query(
    {
      text: `INSERT INTO costs (principal, ${COST_COLUMNS_SQL})
             SELECT principal, day, '${DELETED_SESSIONS_ID}', model, ${COUNT_COLUMNS_SQL} FROM costs
             WHERE principal = $1 AND session_id = $2 ${ADD_COUNTS_ON_CONFLICT_SQL}`,
    },
    [principal, sessionId],
  );
  await connection.query({ text: 'DELETE FROM costs WHERE principal = $1 AND session_id = $2' }, [
    principal,
    sessionId,
  ]);
}

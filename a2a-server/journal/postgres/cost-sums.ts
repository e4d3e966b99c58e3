/** Reads the sums of costs. `append_batch` writes them. */
import type { CostRow } from '../../task/cost-sum.ts';
import type { DailyUse } from '../../task/daily-budget.ts';
import { integerColumn, nullableNumberColumn, numberColumn, textColumn } from '../columns.ts';
import type { CostFilter } from '../journal.ts';
import type { Connection, Queries, Row, SqlValue } from './driver.ts';

/** The session id in the sums of deleted sessions. No session has an empty id. */
const DELETED_SESSIONS = '';

const COUNTS =
  'requests, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, known_usd, unpriced';

const ADD = `ON CONFLICT (principal, day, session_id, model) DO UPDATE SET ${COUNTS.split(', ')
  .map((column) => `${column} = costs.${column} + excluded.${column}`)
  .join(', ')}`;

export async function costRows(
  database: Queries,
  { principal, fromDay, sessionId }: CostFilter,
): Promise<CostRow[]> {
  const values: SqlValue[] = [principal];
  const conditions = ['principal = $1'];
  if (fromDay !== undefined) conditions.push(`day >= $${values.push(fromDay)}`);
  if (sessionId !== undefined) conditions.push(`session_id = $${values.push(sessionId)}`);
  const text = `SELECT day, session_id, model, ${COUNTS} FROM costs WHERE ${conditions.join(' AND ')}`;
  return (await database.query({ text }, values)).map(toCostRow);
}

export async function dailyUse(database: Queries, principal: string, day: number): Promise<DailyUse> {
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

/** Adds a session's sums to the sums of all deleted sessions. The caller has a transaction. */
export async function forgetSessionCosts(
  connection: Connection,
  principal: string,
  sessionId: string,
): Promise<void> {
  await connection.query(
    {
      text: `INSERT INTO costs (principal, day, session_id, model, ${COUNTS})
             SELECT principal, day, '${DELETED_SESSIONS}', model, ${COUNTS} FROM costs
             WHERE principal = $1 AND session_id = $2 ${ADD}`,
    },
    [principal, sessionId],
  );
  await connection.query({ text: 'DELETE FROM costs WHERE principal = $1 AND session_id = $2' }, [
    principal,
    sessionId,
  ]);
}

function toCostRow(row: Row): CostRow {
  const sessionId = textColumn(row[1]);
  return {
    day: integerColumn(row[0]),
    sessionId: sessionId === DELETED_SESSIONS ? null : sessionId,
    model: textColumn(row[2]),
    requests: integerColumn(row[3]),
    inputTokens: integerColumn(row[4]),
    outputTokens: integerColumn(row[5]),
    cachedInputTokens: integerColumn(row[6]),
    cacheWriteTokens: integerColumn(row[7]),
    knownUsd: numberColumn(row[8]),
    unpriced: integerColumn(row[9]),
  };
}

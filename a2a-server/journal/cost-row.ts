/** Names the columns of a sum of costs, for both databases. */
import type { SqlRow } from '../../shared/state/sql-row.ts';
import type { CostRow } from '../task/costs/cost-sum.ts';
import { integerColumn, numberColumn, textColumn } from './validate-column-values.ts';

/** The session id in the sums of deleted sessions. No session has an empty id. */
export const DELETED_SESSIONS_ID = '';

export const COUNT_COLUMNS_SQL =
  'requests, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, known_usd, unpriced';
export const COST_COLUMNS_SQL = `day, session_id, model, ${COUNT_COLUMNS_SQL}`;

/** The end of an INSERT: if the row exists, adds the counts to it. */
export const ADD_COUNTS_ON_CONFLICT_SQL = `ON CONFLICT (principal, day, session_id, model) DO UPDATE SET ${addedCounts()}`;

function addedCounts(): string {
  const columns = COUNT_COLUMNS_SQL.split(', ');
  return columns.map((column) => `${column} = costs.${column} + excluded.${column}`).join(', ');
}

/**
 * Converts a row of the database to a `CostRow`.
 * @param row a row with `COST_COLUMNS_SQL`
 * @throws DamagedDataError
 */
export function toCostRow(row: SqlRow): CostRow {
  const sessionId = textColumn(row[1]);
  return {
    day: integerColumn(row[0]),
    sessionId: sessionId === DELETED_SESSIONS_ID ? null : sessionId,
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

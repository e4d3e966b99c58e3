/**
 * Builds the queries that count tasks, for both databases. The indexes `tasks_by_state` and `waiting_tasks` answer
 * them.
 */
import type { SqlRow } from '../../shared/state/sql-row.ts';
import type { StateName } from '../task/snapshot.ts';
import { integerColumn, parseStateColumn } from './validate-column-values.ts';

export const COUNT_TASKS_BY_STATE = 'SELECT state, count(*) FROM tasks GROUP BY state';
/**
 * Builds the query for the start of the longest current wait for a person. Its condition has the same words as the
 * condition of the index `waiting_tasks`, so that the query uses this index. `after` is the SQL after the name of the
 * table: SQLite needs `INDEXED BY` there, because it would otherwise read each waiting task.
 */
export const waitingSinceQuery = (after = ''): string =>
  `SELECT updated_at FROM tasks ${after} WHERE state IN ('input-required', 'auth-required') ORDER BY updated_at LIMIT 1`;

export function toTaskCounts(rows: readonly SqlRow[]): Partial<Record<StateName, number>> {
  return Object.fromEntries(rows.map(([state, count]) => [parseStateColumn(state), integerColumn(count)]));
}

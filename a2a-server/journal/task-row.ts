/** Reads a task's row of the index, for both databases. */
import type { SqlRow } from '../../shared/state/sql-row.ts';
import {
  integerColumn,
  nullableIntegerColumn,
  parseStateColumn,
  textColumn,
} from './validate-column-values.ts';
import type { TaskRow } from './journal.ts';

export const SELECT_TASKS =
  'SELECT key, task_id, session_id, principal, state, seq, created_at, updated_at, title, deadline FROM tasks';

/**
 * Converts a row of the database to a `TaskRow`.
 * @param row a row of `SELECT_TASKS`
 * @throws DamagedDataError
 */
export function toTaskRow(row: SqlRow): TaskRow {
  return {
    taskId: textColumn(row[1]),
    sessionId: textColumn(row[2]),
    principal: textColumn(row[3]),
    state: parseStateColumn(row[4]),
    seq: integerColumn(row[5]),
    createdAt: integerColumn(row[6]),
    updatedAt: integerColumn(row[7]),
    title: textColumn(row[8]),
    deadline: nullableIntegerColumn(row[9]),
  };
}

/** Counts the tasks in SQLite. Each query reads an index, and no task. */
import type { Sqlite } from '../../../shared/sqlite/driver.ts';
import { integerColumn, nullableNumberColumn } from '../validate-column-values.ts';
import type { JournalStatistics } from '../journal.ts';
import { COUNT_TASKS_BY_STATE, toTaskCounts, waitingSinceQuery } from '../task-counts.ts';

const SIZE = 'SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()';

/** The query is exported, so that a test can check its query plan. */
export const SELECT_WAITING_SINCE = waitingSinceQuery('INDEXED BY waiting_tasks');

export function readStatistics(database: Sqlite): JournalStatistics {
  return {
    tasks: toTaskCounts(database.query(COUNT_TASKS_BY_STATE)()),
    waitingSince: nullableNumberColumn(database.query(SELECT_WAITING_SINCE)()[0]?.[0] ?? null),
    bytes: integerColumn(database.query(SIZE)()[0]?.[0]),
  };
}

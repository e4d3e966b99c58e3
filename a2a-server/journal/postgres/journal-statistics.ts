/** Counts the tasks in PostgreSQL. Each query of tasks reads an index. */
import { integerColumn, nullableNumberColumn } from '../validate-column-values.ts';
import type { JournalStatistics } from '../journal.ts';
import { COUNT_TASKS_BY_STATE, toTaskCounts, waitingSinceQuery } from '../task-counts.ts';
import type { QueryRunner } from './driver.ts';

const SIZE =
  "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace";

export async function readStatistics(database: QueryRunner): Promise<JournalStatistics> {
  const [[since = null] = []] = await database.query({ text: waitingSinceQuery() });
  const [[bytes] = []] = await database.query({ text: SIZE });
  return {
    tasks: toTaskCounts(await database.query({ text: COUNT_TASKS_BY_STATE })),
    waitingSince: nullableNumberColumn(since),
    bytes: integerColumn(bytes),
  };
}

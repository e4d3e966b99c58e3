import { expect, it } from '@jest/globals';
import { join } from 'node:path';
import { migrate } from '../../../../../a2a-server/journal/sqlite/schema.ts';
import {
  COUNT_TASKS_BY_STATE,
  createJournalQueries,
  waitingSinceQuery,
} from '../../../../../a2a-server/journal/journal-queries.ts';
import {
  createSqliteReader,
  SQLITE_DIALECT,
} from '../../../../../a2a-server/journal/sqlite/sqlite-dialect.ts';
import { openSqlite } from '../../../../../shared/sqlite/driver.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

async function journalWithTasks(count: number) {
  const path = join(await temporaryDirectory(), 'journal.db');
  const database = openSqlite(path, { busyTimeoutMs: 0 });
  migrate(database, path);
  database.exec(`
    INSERT INTO tasks (task_id, session_id, principal, state, seq, created_at, updated_at, title)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    SELECT 't' || n, 's' || n, 'p', CASE WHEN n % 2 = 0 THEN 'input-required' ELSE 'completed' END, 3, n, n, '' FROM numbers`);
  return database;
}

it('the statistics read only indexes, and no task', async () => {
  const database = await journalWithTasks(10);
  const planOf = (sql: string) =>
    database
      .query(`EXPLAIN QUERY PLAN ${sql}`)()
      .map((row) => row[3]);
  expect(planOf(COUNT_TASKS_BY_STATE)).toEqual(['SCAN tasks USING COVERING INDEX tasks_by_state']);
  expect(planOf(waitingSinceQuery(SQLITE_DIALECT))).toEqual(['SCAN tasks USING INDEX waiting_tasks']);
  database.close();
});

it('the statistics count 100,000 tasks', async () => {
  const database = await journalWithTasks(100_000);
  const reader = createSqliteReader(database);
  const { statistics } = createJournalQueries((question) => question(reader), SQLITE_DIALECT);
  expect(await statistics()).toMatchObject({
    tasks: { 'input-required': 50_000, completed: 50_000 },
    waitingSince: 2,
  });
  database.close();
});

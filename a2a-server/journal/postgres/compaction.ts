/**
 * Packs the rows of long journals whose tasks wait for a person or have ended. S1, S2: readers get exactly the same
 * entries. Each transaction packs one part of a journal.
 */
import { integerColumn } from '../validate-column-values.ts';
import { findPackableEventRuns, packedRowBody } from '../packed-row.ts';
import type { PostgresConnection } from './driver.ts';

/**
 * Packs one part of one task. The caller must have begun a transaction. Returns the number of rows read, or 0 if there
 * is nothing to pack.
 */
export async function packNextEvents(connection: PostgresConnection, limit: number): Promise<number> {
  // PostgreSQL uses the index `tasks_to_pack` only if this condition is the same as in the index.
  const [task] = await connection.query({
    text: `SELECT key, packed, seq FROM tasks
           WHERE state NOT IN ('submitted', 'working') AND seq - packed >= 512 LIMIT 1 FOR UPDATE`,
  });
  if (task === undefined) return 0;
  const [key, packed] = [integerColumn(task[0]), integerColumn(task[1])];
  const rows = await connection.query(
    { text: 'SELECT seq, at, body, first FROM events WHERE task = $1 AND seq > $2 ORDER BY seq LIMIT $3' },
    [key, packed, limit],
  );
  const runs = findPackableEventRuns(rows).flatMap((run) => {
    const [first, last] = [run.entries[0], run.entries.at(-1)];
    return first === undefined || last === undefined
      ? []
      : { first: first.seq, last: last.seq, at: last.at, body: packedRowBody(run) };
  });
  const firsts = runs.map(({ first }) => first);
  const lasts = runs.map(({ last }) => last);
  await connection.query(
    {
      text: `DELETE FROM events USING unnest($2::int[], $3::int[]) AS run (first, last)
             WHERE task = $1 AND seq BETWEEN run.first AND run.last`,
    },
    [key, firsts, lasts],
  );
  await connection.query(
    {
      text: `INSERT INTO events (task, seq, at, body, first)
             SELECT $1, run.last, run.at, run.body, run.first
             FROM unnest($2::int[], $3::int[], $4::bigint[], $5::text[]) AS run (first, last, at, body)`,
    },
    [key, firsts, lasts, runs.map(({ at }) => at), runs.map(({ body }) => body)],
  );
  // If there are no rows, the index is damaged, and names events that do not exist. Then `packed` becomes the task's
  // `seq`, so that this task is not read again.
  await connection.query({ text: 'UPDATE tasks SET packed = $2 WHERE key = $1' }, [
    key,
    integerColumn(rows.at(-1)?.[0] ?? task[2]),
  ]);
  return Math.max(1, rows.length);
}

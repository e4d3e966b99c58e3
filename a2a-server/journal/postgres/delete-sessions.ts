/**
 * Deletes old sessions in two steps. The first step deletes the tasks of whole sessions in one transaction, so no
 * reader sees half of a session. The second step removes their events and contents in small transactions. After a
 * crash, a later server removes the rest.
 */
import { integerColumn, textColumn } from '../validate-column-values.ts';
import {
  ADD_COUNTS_ON_CONFLICT_SQL,
  COST_COLUMNS_SQL,
  COUNT_COLUMNS_SQL,
  DELETED_SESSIONS_ID,
} from '../cost-row.ts';
import type { PostgresConnection, QueryRunner } from './driver.ts';

/** The maximum number of content chunks per transaction. A chunk has at most 1 MB. */
const CHUNKS_PER_TRANSACTION = 8;

// The tasks of a session run one after another, so the query reads only the newest task.
const FIND_OLD = {
  text: `SELECT principal, session_id FROM tasks AS task
         WHERE state IN ('completed', 'failed', 'canceled', 'rejected') AND updated_at < $1
           AND NOT EXISTS (
             SELECT 1 FROM tasks AS later
             WHERE later.principal = task.principal AND later.session_id = task.session_id AND later.key > task.key)
         ORDER BY updated_at LIMIT $2`,
};

/**
 * Since `FIND_OLD`, another server may have begun the session's next task. Then nothing is deleted (E3: an accepted
 * command is never lost).
 */
const DELETE_SESSION = {
  text: `DELETE FROM tasks WHERE principal = $1 AND session_id = $2
           AND NOT EXISTS (
             SELECT 1 FROM tasks AS other
             WHERE other.principal = $1 AND other.session_id = $2
               AND (other.state NOT IN ('completed', 'failed', 'canceled', 'rejected') OR other.updated_at >= $3))
         RETURNING key`,
};

export async function hasSessionToDelete(database: QueryRunner, before: number): Promise<boolean> {
  return (await database.query(FIND_OLD, [Math.ceil(before), 1])).length > 0;
}

/**
 * Deletes the tasks of at most `limit` sessions. The caller must have begun a transaction. Returns the number of
 * sessions.
 */
export async function deleteSessions(
  connection: PostgresConnection,
  before: number,
  limit: number,
): Promise<number> {
  let sessions = 0;
  for (const row of await connection.query(FIND_OLD, [Math.ceil(before), limit])) {
    const session = [textColumn(row[0]), textColumn(row[1])] as const;
    const deleted = await connection.query(DELETE_SESSION, [...session, Math.ceil(before)]);
    if (deleted.length === 0) continue;
    sessions += 1;
    const keys = deleted.map(([key]) => integerColumn(key));
    await connection.query({ text: 'INSERT INTO deleted_tasks SELECT unnest($1::bigint[])' }, [keys]);
    await connection.query({ text: 'DELETE FROM commands WHERE task = ANY ($1)' }, [keys]);
    await connection.query({ text: 'DELETE FROM tool_executions WHERE task = ANY ($1)' }, [keys]);
    await mergeDeletedSessionCosts(connection, ...session);
  }
  return sessions;
}

/** Adds a session's sums to the sums of all deleted sessions. The caller must have begun a transaction. */
async function mergeDeletedSessionCosts(
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

/**
 * Removes rows of one deleted task. The caller must have begun a transaction.
 * @param limit the maximum number of events
 * @returns the number of removed rows; 0 if nothing is left to remove
 */
export async function removeRowsOfDeletedTask(
  connection: PostgresConnection,
  limit: number,
): Promise<number> {
  const [task] = await connection.query({ text: 'SELECT key FROM deleted_tasks LIMIT 1' });
  if (task === undefined) return 0;
  const key = integerColumn(task[0]);
  const removals = [
    {
      text: `DELETE FROM events
             WHERE task = $1 AND seq < (SELECT min(seq) FROM events WHERE task = $1) + $2::bigint RETURNING 1`,
      values: [key, limit],
    },
    {
      text: `DELETE FROM content_chunks WHERE (task, hash, chunk) IN
               (SELECT task, hash, chunk FROM content_chunks WHERE task = $1 LIMIT $2) RETURNING 1`,
      values: [key, CHUNKS_PER_TRANSACTION],
    },
    { text: 'DELETE FROM deleted_tasks WHERE key = $1 RETURNING 1', values: [key] },
  ];
  for (const { text, values } of removals) {
    const removed = (await connection.query({ text }, values)).length;
    if (removed > 0) return removed;
  }
  return 0;
}

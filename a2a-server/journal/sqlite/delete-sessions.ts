/** Deletes old sessions as a whole. A part would not do: the next task of a session needs the earlier ones. */
import { integerColumn, textColumn } from './columns.ts';
import type { Command, Query, Sqlite } from '../../../shared/sqlite/driver.ts';

export class SessionDeletion {
  readonly #database: Sqlite;
  readonly #over: Query;
  readonly #tasks: Query;
  readonly #deletions: readonly Command[];

  constructor(database: Sqlite) {
    this.#database = database;
    // Tasks of a session run one after the other. So it is enough to check the newest task.
    this.#over = database.query(
      `SELECT principal, session_id FROM tasks AS task
       WHERE state IN ('completed', 'failed', 'canceled', 'rejected') AND updated_at < ?
         AND NOT EXISTS (
           SELECT 1 FROM tasks AS later
           WHERE later.principal = task.principal AND later.session_id = task.session_id AND later.key > task.key)
       ORDER BY updated_at LIMIT ?`,
    );
    this.#tasks = database.query('SELECT key FROM tasks WHERE principal = ? AND session_id = ?');
    this.#deletions = [
      database.command('DELETE FROM commands WHERE task = ?'),
      database.command('DELETE FROM tool_executions WHERE task = ?'),
      database.command('DELETE FROM events WHERE task = ?'),
      database.command('DELETE FROM contents WHERE task = ?'),
      database.command('DELETE FROM tasks WHERE key = ?'),
    ];
  }

  /** One transaction, so that no reader sees half a session. @returns the number of deleted sessions. */
  forget(before: number, limit: number): number {
    return this.#database.transaction(() => {
      const sessions = this.#over(before, limit);
      for (const [principal, sessionId] of sessions) {
        for (const [key] of this.#tasks(textColumn(principal), textColumn(sessionId))) {
          for (const remove of this.#deletions) remove(integerColumn(key));
        }
      }
      return sessions.length;
    });
  }
}

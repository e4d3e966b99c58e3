/** Deletes sessions that are over and old: whole ones, for a session's next task needs what came before it. */
import { integer, text } from './columns.ts';
import type { Command, Query, Sqlite } from './driver.ts';

const ENDED = `('completed', 'failed', 'canceled', 'rejected')`;

export class Forgetting {
  readonly #database: Sqlite;
  readonly #over: Query;
  readonly #tasks: Query;
  readonly #deletions: readonly Command[];

  constructor(database: Sqlite) {
    this.#database = database;
    this.#over = database.query(
      `SELECT DISTINCT principal, session_id FROM tasks AS task
       WHERE state IN ${ENDED} AND updated_at < ?1
         AND NOT EXISTS (
           SELECT 1 FROM tasks AS other
           WHERE other.principal = task.principal AND other.session_id = task.session_id
             AND NOT (other.state IN ${ENDED} AND other.updated_at < ?1))
       LIMIT ?2`,
    );
    this.#tasks = database.query('SELECT key FROM tasks WHERE principal = ? AND session_id = ?');
    this.#deletions = [
      database.command('DELETE FROM commands WHERE task = ?'),
      database.command('DELETE FROM events WHERE task = ?'),
      database.command('DELETE FROM tasks WHERE key = ?'),
    ];
  }

  /** In one transaction: nobody finds half a session. @returns how many sessions. */
  forget(before: number, limit: number): number {
    return this.#database.transaction(() => {
      const sessions = this.#over(before, limit);
      for (const [principal, sessionId] of sessions) {
        for (const [key] of this.#tasks(text(principal), text(sessionId))) {
          for (const remove of this.#deletions) remove(integer(key));
        }
      }
      return sessions.length;
    });
  }
}

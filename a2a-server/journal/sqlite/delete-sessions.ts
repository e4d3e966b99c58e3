/**
 * Deletes old sessions in two steps. The first step hides a whole session in one transaction, so no reader sees half of
 * it. The second step removes the hidden rows in small transactions, so other writers can run between them. After a
 * crash, a later process removes the remaining rows.
 */
import { integerColumn, textColumn } from '../validate-column-values.ts';
import type { CostTable } from './cost-table.ts';
import type { RunStatement, RunQuery, Sqlite } from '../../../shared/sqlite/driver.ts';

/**
 * The principal of hidden tasks. A hidden task belongs to a deleted session, but its rows still exist. No token has an
 * empty principal.
 */
export const HIDDEN_PRINCIPAL = '';

export const COUNT_TASKS = `SELECT count(*) FROM tasks WHERE principal <> '${HIDDEN_PRINCIPAL}'`;

/**
 * After this number of changed rows, a transaction hides no further session. A transaction with so many rows takes some
 * milliseconds. A large session takes longer, because one transaction hides the whole session.
 */
const ROWS_PER_TRANSACTION = 2_000;
/** The maximum number of file contents per transaction. One content may have megabytes. */
const CONTENTS_PER_TRANSACTION = 8;

export class SessionDeletion {
  readonly #database: Sqlite;
  readonly #costs: CostTable;
  readonly #over: RunQuery;
  readonly #tasks: RunQuery;
  readonly #hide: readonly RunStatement[];
  readonly #hidden: RunQuery;
  readonly #removeEvents: RunStatement;
  readonly #removeContents: RunStatement;
  readonly #removeTask: RunStatement;

  constructor(database: Sqlite, costs: CostTable) {
    this.#database = database;
    this.#costs = costs;
    // The tasks of a session run one after another, so the query reads only the newest task.
    this.#over = database.query(
      `SELECT principal, session_id FROM tasks AS task
       WHERE state IN ('completed', 'failed', 'canceled', 'rejected') AND updated_at < ? AND principal <> '${HIDDEN_PRINCIPAL}'
         AND NOT EXISTS (
           SELECT 1 FROM tasks AS later
           WHERE later.principal = task.principal AND later.session_id = task.session_id AND later.key > task.key)
       ORDER BY updated_at LIMIT ?`,
    );
    this.#tasks = database.query('SELECT key FROM tasks WHERE principal = ? AND session_id = ?');
    this.#hide = [
      database.command('DELETE FROM commands WHERE task = ?'),
      database.command('DELETE FROM tool_executions WHERE task = ?'),
      // The row stays until its events are deleted. It gets a new id that no client can guess, and `packed = seq`, so
      // that compaction skips it.
      database.command(
        `UPDATE tasks SET principal = '${HIDDEN_PRINCIPAL}', task_id = 'deleted-' || hex(randomblob(16)), packed = seq, saved = 0
         WHERE key = ?`,
      ),
    ];
    this.#hidden = database.query(`SELECT key FROM tasks WHERE principal = '${HIDDEN_PRINCIPAL}' LIMIT 1`);
    this.#removeEvents = database.command(
      'DELETE FROM events WHERE task = ?1 AND seq < (SELECT min(seq) FROM events WHERE task = ?1) + ?2',
    );
    this.#removeContents = database.command(
      'DELETE FROM contents WHERE rowid IN (SELECT rowid FROM contents WHERE task = ? LIMIT ?)',
    );
    this.#removeTask = database.command('DELETE FROM tasks WHERE key = ?');
  }

  isDue(before: number): boolean {
    return this.#over(before, 1).length > 0;
  }

  /** Hides at most `limit` sessions in one transaction. Returns the number of hidden sessions. */
  forget(before: number, limit: number): number {
    return this.#database.transaction(() => {
      let [sessions, rows] = [0, 0];
      for (const [principal, sessionId] of this.#over(before, limit)) {
        for (const [key] of this.#tasks(textColumn(principal), textColumn(sessionId)))
          for (const hide of this.#hide) rows += hide(integerColumn(key));
        rows += this.#costs.forgetSession(textColumn(principal), textColumn(sessionId));
        sessions += 1;
        if (rows >= ROWS_PER_TRANSACTION) break;
      }
      return sessions;
    });
  }

  /**
   * Removes rows of one hidden task in one transaction.
   * @param limit the maximum number of events
   * @returns the number of removed rows; 0 if no task is hidden
   */
  remove(limit: number): number {
    return this.#database.transaction(() => {
      const task = this.#hidden()[0];
      if (task === undefined) return 0;
      const key = integerColumn(task[0]);
      return (
        this.#removeEvents(key, limit) ||
        this.#removeContents(key, CONTENTS_PER_TRANSACTION) ||
        this.#removeTask(key)
      );
    });
  }
}

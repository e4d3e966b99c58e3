/** Defines what the queries of the journal need from a database. */
import type { SqlRow } from '../../shared/state/sql-row.ts';

export type SqlValue = string | number | readonly string[];

/** A statement with the parameters `$1`, `$2` … A statement with a name is prepared once per connection. */
export interface SqlStatement {
  name?: string;
  text: string;
}

export interface SqlReader {
  query(statement: SqlStatement, values?: readonly SqlValue[]): Promise<SqlRow[]>;
}

/** Adds a value to the parameters of a statement. Returns its placeholder. */
export type AddValue = (value: SqlValue) => string;

/** The parts of the queries that differ between SQLite and PostgreSQL. */
export interface SqlDialect {
  /** The condition that `task_id` is in the list `$1`. */
  isListed: string;
  /** The condition that a task has saved file contents. */
  hasSavedFiles: string;
  /** The query for the chunks of a file content. `$1` is the task's id, and `$2` is the hash of the content. */
  findContent: string;
  /** The SQL expression for a task's workspace. */
  workspace: string;
  /** The table of tasks, for the query that must use the index `waiting_tasks`. */
  waitingTasks: string;
  /** The query for the size of the database in bytes. */
  databaseSize: string;
  /**
   * Returns the condition that a principal has this prefix `tenant/`. The database uses the index `tasks_of_a_tenant`
   * only if the query contains the expression and the condition of that index.
   */
  isOfTenant(prefix: string): string;
  /**
   * Returns the condition that the first message or the title contains the text. The title is the command if a task
   * runs a command without a message text.
   */
  hasText(text: string, value: AddValue): string;
}

/** Runs the queries of the journal on SQLite. */
import type { RunQuery, Sqlite, SqliteValue } from '../../../shared/sqlite/driver.ts';
import type { SqlDialect, SqlReader, SqlValue } from '../sql-dialect.ts';
import { likePattern } from '../task-conditions.ts';

export const SQLITE_DIALECT: SqlDialect = {
  isListed: 'task_id IN (SELECT value FROM json_each($1))',
  hasSavedFiles: 'saved = 1',
  findContent:
    'SELECT bytes FROM contents JOIN tasks ON tasks.key = contents.task WHERE task_id = $1 AND hash = $2',
  // The workspace of a task is in its first event, `task.created`.
  workspace: `(SELECT json_extract(body, '$.settings.workspace') FROM events WHERE task = tasks.key AND seq = 1)`,
  // Without `INDEXED BY`, SQLite would read each waiting task.
  waitingTasks: 'tasks INDEXED BY waiting_tasks',
  databaseSize: 'SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()',
  isOfTenant: (prefix) =>
    `instr(principal, '/') > 0 AND substr(principal, 1, instr(principal, '/')) = ${prefix}`,
  hasText(text, value) {
    const pattern = value(likePattern(text));
    const inJson = value(likePattern(JSON.stringify(text).slice(1, -1)));
    return String.raw`(title LIKE ${pattern} ESCAPE '\' OR ${firstMessageHas(pattern, inJson)})`;
  },
};

/**
 * The second event of a task is its first message. A message that is nested deeper than 1,000 levels is not found,
 * because SQLite's JSON functions fail for it.
 */
function firstMessageHas(pattern: string, inJson: string): string {
  return String.raw`EXISTS (
    SELECT 1 FROM events WHERE task = tasks.key AND seq = 2 AND body LIKE ${inJson} ESCAPE '\' AND CASE WHEN json_valid(body)
      THEN EXISTS (SELECT 1 FROM json_each(body, '$.message.parts') AS part
                   WHERE json_extract(part.value, '$.text') LIKE ${pattern} ESCAPE '\')
      ELSE FALSE END)`;
}

/** Returns a reader that prepares each statement with a name once. */
export function createSqliteReader(database: Sqlite): SqlReader {
  const prepared = new Map<string, RunQuery>();
  return {
    async query({ name, text }, values = []) {
      const run = (name === undefined ? undefined : prepared.get(name)) ?? database.query(toSqliteText(text));
      if (name !== undefined) prepared.set(name, run);
      return run(...values.map(toSqliteValue));
    },
  };
}

/** In SQLite, `?1` is the parameter number 1. SQLite would treat `$1` as a parameter with a name. */
export function toSqliteText(text: string): string {
  return text.replace(/\$(?=\d)/g, '?');
}

/** A list becomes JSON, for `json_each`. */
function toSqliteValue(value: SqlValue): SqliteValue {
  return typeof value === 'object' ? JSON.stringify(value) : value;
}

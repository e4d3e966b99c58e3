import type { SqlDialect } from '../sql-dialect.ts';
import { likePattern } from '../task-conditions.ts';
import { SEARCH_TEXT_SEPARATOR } from './append-batch.ts';

export const POSTGRES_DIALECT: SqlDialect = {
  isListed: 'task_id = ANY ($1)',
  hasSavedFiles: 'saved',
  findContent: `SELECT bytes FROM content_chunks WHERE task = (SELECT key FROM tasks WHERE task_id = $1) AND hash = $2
                ORDER BY chunk`,
  workspace: 'workspace',
  waitingTasks: 'tasks',
  databaseSize:
    "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace",
  isOfTenant: (prefix) =>
    `strpos(principal, '/') > 0 AND left(principal, strpos(principal, '/')) = ${prefix}`,
  hasText(text, value) {
    if (text.includes(SEARCH_TEXT_SEPARATOR)) return 'FALSE';
    // With the collation "C", ILIKE ignores the case of ASCII letters only.
    const pattern = value(likePattern(text));
    return `(title ILIKE ${pattern} OR first_message ILIKE ${pattern})`;
  },
};

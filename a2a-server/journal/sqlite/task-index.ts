/** Queries the index, the commands, the tool executions and the file contents. */
import type {
  OwnerFilter,
  RecordedCommand,
  JournalTaskFilter,
  TaskFilterValues,
  TaskPage,
  TaskPageRequest,
  TaskRow,
} from '../journal.ts';
import { decodePageToken, encodePageToken } from '../page-token.ts';
import { isStorableText } from '../prepared-append.ts';
import { SELECT_TASKS, toTaskRow } from '../task-row.ts';
import { bytesColumn, integerColumn, textColumn } from '../validate-column-values.ts';
import type { RunQuery, Sqlite, SqliteValue } from '../../../shared/sqlite/driver.ts';

export class TaskIndex {
  readonly #database: Sqlite;
  readonly #row: RunQuery;
  readonly #rows: RunQuery;
  readonly #session: RunQuery;
  readonly #moving: RunQuery;
  readonly #deadlines: RunQuery;
  readonly #command: RunQuery;
  readonly #toolExecution: RunQuery;
  readonly #content: RunQuery;
  readonly #withSavedFiles: RunQuery;

  constructor(database: Sqlite) {
    this.#database = database;
    this.#row = database.query(`${SELECT_TASKS} WHERE task_id = ?`);
    this.#rows = database.query(`${SELECT_TASKS} WHERE task_id IN (SELECT value FROM json_each(?))`);
    this.#session = database.query(`${SELECT_TASKS} WHERE principal = ? AND session_id = ? ORDER BY key`);
    this.#moving = database.query(`${SELECT_TASKS} WHERE state IN ('submitted', 'working') ORDER BY key`);
    this.#deadlines = database.query(
      `${SELECT_TASKS} WHERE deadline IS NOT NULL ORDER BY deadline, key LIMIT ?`,
    );
    this.#command = database.query(
      `SELECT task_id, session_id, body_hash, commands.seq FROM commands JOIN tasks ON tasks.key = commands.task
       WHERE commands.principal = ? AND message_id = ?`,
    );
    this.#toolExecution = database.query(
      `SELECT task_id, principal FROM tool_executions JOIN tasks ON tasks.key = tool_executions.task
       WHERE tool_id = ?`,
    );
    this.#content = database.query(
      'SELECT bytes FROM contents JOIN tasks ON tasks.key = contents.task WHERE task_id = ? AND hash = ?',
    );
    this.#withSavedFiles = database.query(
      `${SELECT_TASKS} WHERE principal = ? AND saved = 1 ORDER BY updated_at DESC, key DESC`,
    );
  }

  row(taskId: string): TaskRow | undefined {
    const row = this.#row(taskId)[0];
    return row && toTaskRow(row);
  }

  rows(taskIds: readonly string[]): TaskRow[] {
    return this.#rows(JSON.stringify(taskIds)).map(toTaskRow);
  }

  session(principal: string, sessionId: string): TaskRow[] {
    return this.#session(principal, sessionId).map(toTaskRow);
  }

  unsettled(): TaskRow[] {
    return this.#moving().map(toTaskRow);
  }

  deadlines(limit: number): TaskRow[] {
    return this.#deadlines(limit).map(toTaskRow);
  }

  command(principal: string, messageId: string): RecordedCommand | undefined {
    const row = this.#command(principal, messageId)[0];
    return (
      row && {
        taskId: textColumn(row[0]),
        sessionId: textColumn(row[1]),
        bodyHash: textColumn(row[2]),
        seq: integerColumn(row[3]),
      }
    );
  }

  toolExecution(toolId: string): { taskId: string; principal: string } | undefined {
    const row = this.#toolExecution(toolId)[0];
    return row && { taskId: textColumn(row[0]), principal: textColumn(row[1]) };
  }

  content(taskId: string, hash: string): Uint8Array | undefined {
    const row = this.#content(taskId, hash)[0];
    return row && bytesColumn(row[0]);
  }

  withSavedFiles(principal: string): TaskRow[] {
    return this.#withSavedFiles(principal).map(toTaskRow);
  }

  list(filter: JournalTaskFilter, { size, token, order = 'newest-first' }: TaskPageRequest): TaskPage {
    const after = token === undefined ? undefined : decodePageToken(token);
    const matching = conditionsOf(filter);
    const [comparison, direction] = order === 'newest-first' ? ['<', 'DESC'] : ['>', 'ASC'];
    const remaining = after
      ? { sql: `(updated_at, key) ${comparison} (?, ?)`, values: [after.updatedAt, after.key] }
      : EVERY;
    const [[count] = []] = this.#database.query(`SELECT count(*) FROM tasks WHERE ${matching.sql}`)(
      ...matching.values,
    );
    const total = integerColumn(count);
    // A search for a text is slow. If the count is 0, the second query is not needed.
    if (total === 0) return { rows: [], tokens: [], total };
    // One extra row shows whether there is a next page.
    const found = this.#database.query(
      `${SELECT_TASKS} WHERE ${matching.sql} AND ${remaining.sql} ORDER BY updated_at ${direction}, key ${direction} LIMIT ?`,
    )(...matching.values, ...remaining.values, size + 1);
    const rows = found.slice(0, size);
    const tokens = rows.map((row) =>
      encodePageToken({ updatedAt: integerColumn(row[7]), key: integerColumn(row[0]) }),
    );
    const next = found.length > size ? tokens.at(-1) : undefined;
    return { rows: rows.map(toTaskRow), tokens, total, ...(next !== undefined && { next }) };
  }

  filterValues(filter: OwnerFilter): TaskFilterValues {
    const owner = ownedBy(filter);
    const valuesOf = (value: string): string[] =>
      this.#database
        .query(`SELECT DISTINCT ${value} AS value FROM tasks WHERE ${owner.sql} ORDER BY value`)(
          ...owner.values,
        )
        .flatMap(([found]) => (found === null ? [] : textColumn(found)));
    return { workspaces: valuesOf(WORKSPACE), models: valuesOf('model') };
  }
}

/** The workspace of a task is in its first event, `task.created`. */
const WORKSPACE = `(SELECT json_extract(body, '$.settings.workspace') FROM events WHERE task = tasks.key AND seq = 1)`;

/**
 * The second event of a task is its first message. A message that is nested deeper than 1,000 levels is not found,
 * because SQLite's JSON functions fail for it.
 */
const FIRST_MESSAGE_HAS = `EXISTS (
  SELECT 1 FROM events WHERE task = tasks.key AND seq = 2 AND body LIKE ? ESCAPE '\\' AND CASE WHEN json_valid(body)
    THEN EXISTS (SELECT 1 FROM json_each(body, '$.message.parts') AS part
                 WHERE json_extract(part.value, '$.text') LIKE ? ESCAPE '\\')
    ELSE FALSE END)`;

interface Condition {
  sql: string;
  values: SqliteValue[];
}

const EVERY: Condition = { sql: 'TRUE', values: [] };
const NONE: Condition = { sql: 'FALSE', values: [] };

function conditionsOf(filter: JournalTaskFilter): Condition {
  const { sessionId, idPrefixes, states, updatedSince, text, workspace, model } = filter;
  const all: Condition[] = [
    ownedBy(filter),
    sessionId === undefined ? EVERY : sessionIs(sessionId),
    ...(idPrefixes === undefined ? [] : [idBeginsWith(ownedBy(filter), idPrefixes)]),
    states === undefined
      ? EVERY
      : { sql: `state IN (${states.map(() => '?').join(', ')})`, values: [...states] },
    updatedSince === undefined ? EVERY : { sql: 'updated_at >= ?', values: [updatedSince] },
    model === undefined ? EVERY : hasValue('model', model),
    workspace === undefined ? EVERY : hasValue(WORKSPACE, workspace),
    text === undefined ? EVERY : messageContains(text),
  ];
  return { sql: all.map(({ sql }) => sql).join(' AND '), values: all.flatMap(({ values }) => values) };
}

/**
 * Returns the condition that selects the owner's tasks. SQLite uses the index `tasks_of_a_tenant` only if the query
 * contains the expression and the condition of that index.
 */
function ownedBy({ principal, tenant }: OwnerFilter): Condition {
  if (tenant === undefined) return { sql: 'principal = ?', values: [principal] };
  return {
    sql: "instr(principal, '/') > 0 AND substr(principal, 1, instr(principal, '/')) = ?",
    values: [`${tenant}/`],
  };
}

function hasValue(expression: string, value: string): Condition {
  return isStorableText(value) ? { sql: `${expression} = ?`, values: [value] } : NONE;
}

/**
 * Returns the condition that the first message or the title contains the text. The title is the command if a task
 * runs a command without a message text.
 */
function messageContains(text: string): Condition {
  if (!isStorableText(text)) return NONE;
  const pattern = likePattern(text);
  return {
    sql: String.raw`(title LIKE ? ESCAPE '\' OR ${FIRST_MESSAGE_HAS})`,
    values: [pattern, likePattern(JSON.stringify(text).slice(1, -1)), pattern],
  };
}

function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, String.raw`\$&`)}%`;
}

function sessionIs(sessionId: string): Condition {
  return isStorableText(sessionId) ? { sql: 'session_id = ?', values: [sessionId] } : NONE;
}

/**
 * Returns the condition that an id begins with one of the prefixes. It uses one index range per prefix, so the time
 * does not grow with the number of tasks.
 */
function idBeginsWith(owner: Condition, prefixes: readonly string[]): Condition {
  const ranges = prefixes.filter(isStorableText).flatMap((prefix): Condition[] => {
    // No id contains the last code point. The range therefore contains every id with this prefix.
    const range = [prefix, `${prefix}\u{10FFFF}`];
    return [
      {
        sql: `SELECT key FROM tasks WHERE ${owner.sql} AND session_id >= ? AND session_id < ?`,
        values: [...owner.values, ...range],
      },
      { sql: 'SELECT key FROM tasks WHERE task_id >= ? AND task_id < ?', values: range },
    ];
  });
  if (ranges.length === 0) return NONE;
  return {
    sql: `key IN (${ranges.map(({ sql }) => sql).join(' UNION ')})`,
    values: ranges.flatMap(({ values }) => values),
  };
}

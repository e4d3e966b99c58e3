/** Reads the index of tasks. */
import { bytesColumn, integerColumn, textColumn } from '../validate-column-values.ts';
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
import { SEARCH_TEXT_SEPARATOR } from './append-batch.ts';
import type { QueryRunner, PostgresValue } from './driver.ts';

const FIND_ROW = { name: 'find_row', text: `${SELECT_TASKS} WHERE task_id = $1` };
const FIND_ROWS = { name: 'find_rows', text: `${SELECT_TASKS} WHERE task_id = ANY ($1)` };
const FIND_SESSION = {
  name: 'find_session',
  text: `${SELECT_TASKS} WHERE principal = $1 AND session_id = $2 ORDER BY key`,
};
const FIND_UNSETTLED = { text: `${SELECT_TASKS} WHERE state IN ('submitted', 'working') ORDER BY key` };
const FIND_DEADLINES = {
  name: 'find_deadlines',
  text: `${SELECT_TASKS} WHERE deadline IS NOT NULL ORDER BY deadline, key LIMIT $1`,
};
const FIND_COMMAND = {
  name: 'find_command',
  text: `SELECT task_id, session_id, body_hash, commands.seq FROM commands JOIN tasks ON tasks.key = commands.task
         WHERE commands.principal = $1 AND message_id = $2`,
};
const FIND_TOOL_EXECUTION = {
  name: 'find_tool_execution',
  text: `SELECT task_id, principal FROM tool_executions JOIN tasks ON tasks.key = tool_executions.task
         WHERE tool_id = $1`,
};
const FIND_CONTENT = {
  name: 'find_content',
  text: `SELECT bytes FROM content_chunks WHERE task = (SELECT key FROM tasks WHERE task_id = $1) AND hash = $2
         ORDER BY chunk`,
};
const FIND_SAVED = {
  name: 'find_saved',
  text: `${SELECT_TASKS} WHERE principal = $1 AND saved ORDER BY updated_at DESC, key DESC`,
};

export class TaskIndex {
  readonly #database: QueryRunner;

  constructor(database: QueryRunner) {
    this.#database = database;
  }

  async row(taskId: string): Promise<TaskRow | undefined> {
    const [row] = await this.#database.query(FIND_ROW, [taskId]);
    return row && toTaskRow(row);
  }

  async rows(taskIds: readonly string[]): Promise<TaskRow[]> {
    return (await this.#database.query(FIND_ROWS, [taskIds])).map(toTaskRow);
  }

  async session(principal: string, sessionId: string): Promise<TaskRow[]> {
    return (await this.#database.query(FIND_SESSION, [principal, sessionId])).map(toTaskRow);
  }

  async unsettled(): Promise<TaskRow[]> {
    return (await this.#database.query(FIND_UNSETTLED)).map(toTaskRow);
  }

  async deadlines(limit: number): Promise<TaskRow[]> {
    return (await this.#database.query(FIND_DEADLINES, [limit])).map(toTaskRow);
  }

  async command(principal: string, messageId: string): Promise<RecordedCommand | undefined> {
    const [row] = await this.#database.query(FIND_COMMAND, [principal, messageId]);
    return (
      row && {
        taskId: textColumn(row[0]),
        sessionId: textColumn(row[1]),
        bodyHash: textColumn(row[2]),
        seq: integerColumn(row[3]),
      }
    );
  }

  async toolExecution(toolId: string): Promise<{ taskId: string; principal: string } | undefined> {
    const [row] = await this.#database.query(FIND_TOOL_EXECUTION, [toolId]);
    return row && { taskId: textColumn(row[0]), principal: textColumn(row[1]) };
  }

  async content(taskId: string, hash: string): Promise<Uint8Array | undefined> {
    const chunks = await this.#database.query(FIND_CONTENT, [taskId, hash]);
    return chunks.length === 0 ? undefined : Buffer.concat(chunks.map(([bytes]) => bytesColumn(bytes)));
  }

  async withSavedFiles(principal: string): Promise<TaskRow[]> {
    return (await this.#database.query(FIND_SAVED, [principal])).map(toTaskRow);
  }

  async list(
    filter: JournalTaskFilter,
    { size, token, order = 'newest-first' }: TaskPageRequest,
  ): Promise<TaskPage> {
    const after = token === undefined ? undefined : decodePageToken(token);
    const matching = new Conditions();
    addConditions(matching, filter);
    const [[count] = []] = await this.#database.query(
      { text: `SELECT count(*) FROM tasks WHERE ${matching.sql}` },
      matching.values,
    );
    const total = integerColumn(count);
    // A search for a text is slow. If the count is 0, the second query is not needed.
    if (total === 0) return { rows: [], tokens: [], total };
    const [comparison, direction] = order === 'newest-first' ? ['<', 'DESC'] : ['>', 'ASC'];
    if (after !== undefined)
      matching.add(
        (value) => `(updated_at, key) ${comparison} (${value(after.updatedAt)}, ${value(after.key)})`,
      );
    // One extra row shows whether there is a next page.
    const found = await this.#database.query(
      {
        text: `${SELECT_TASKS} WHERE ${matching.sql} ORDER BY updated_at ${direction}, key ${direction} LIMIT ${size + 1}`,
      },
      matching.values,
    );
    const rows = found.slice(0, size);
    const tokens = rows.map((row) =>
      encodePageToken({ updatedAt: integerColumn(row[7]), key: integerColumn(row[0]) }),
    );
    const next = found.length > size ? tokens.at(-1) : undefined;
    return { rows: rows.map(toTaskRow), tokens, total, ...(next !== undefined && { next }) };
  }

  async filterValues(owner: OwnerFilter): Promise<TaskFilterValues> {
    const owned = new Conditions();
    owned.add((value) => ownedBy(owner, value));
    const valuesOf = async (column: 'workspace' | 'model'): Promise<string[]> => {
      const text = `SELECT DISTINCT ${column} FROM tasks WHERE ${owned.sql} AND ${column} IS NOT NULL ORDER BY 1`;
      return (await this.#database.query({ text }, owned.values)).map(([value]) => textColumn(value));
    };
    return { workspaces: await valuesOf('workspace'), models: await valuesOf('model') };
  }
}

/** Collects the conditions of a query, and the values of their parameters. */
class Conditions {
  readonly values: PostgresValue[] = [];
  readonly #conditions: string[] = [];

  get sql(): string {
    return this.#conditions.join(' AND ');
  }

  /** Adds a condition. @param build makes the SQL. It gets a function that adds a value and returns its placeholder. */
  add(build: (value: (added: PostgresValue) => string) => string): void {
    this.#conditions.push(build((added) => `$${this.values.push(added)}`));
  }

  /** Adds the condition that a text column has this value. If the database cannot store the value, no row matches. */
  addEqual(column: string, text: string): void {
    this.add((value) => (isStorableText(text) ? `${column} = ${value(text)}` : 'FALSE'));
  }
}

function addConditions(conditions: Conditions, filter: JournalTaskFilter): void {
  const { sessionId, idPrefixes, states, updatedSince, text, workspace, model } = filter;
  conditions.add((value) => ownedBy(filter, value));
  if (sessionId !== undefined) conditions.addEqual('session_id', sessionId);
  if (idPrefixes !== undefined)
    conditions.add((value) => idBeginsWith(idPrefixes.filter(isStorableText), value));
  if (states !== undefined) conditions.add((value) => `state = ANY (${value([...states])})`);
  if (updatedSince !== undefined)
    conditions.add((value) => `updated_at >= ${value(Math.ceil(updatedSince))}`);
  if (model !== undefined) conditions.addEqual('model', model);
  if (workspace !== undefined) conditions.addEqual('workspace', workspace);
  if (text !== undefined) conditions.add((value) => firstMessageHas(text, value));
}

/**
 * Returns the condition that selects the owner's tasks. PostgreSQL uses the index `tasks_of_a_tenant` only if the query
 * contains the expression and the condition of that index.
 */
function ownedBy({ principal, tenant }: OwnerFilter, value: (added: PostgresValue) => string): string {
  if (tenant === undefined) return isStorableText(principal) ? `principal = ${value(principal)}` : 'FALSE';
  return `strpos(principal, '/') > 0 AND left(principal, strpos(principal, '/')) = ${value(`${tenant}/`)}`;
}

/**
 * Returns the condition that the first message or the title contains the text. The title is the command if a task
 * runs a command without a message text.
 */
function firstMessageHas(text: string, value: (added: PostgresValue) => string): string {
  if (!isStorableText(text) || text.includes(SEARCH_TEXT_SEPARATOR)) return 'FALSE';
  // With the collation "C", ILIKE ignores the case of ASCII letters only.
  const pattern = value(`%${text.replace(/[\\%_]/g, String.raw`\$&`)}%`);
  return `(title ILIKE ${pattern} OR first_message ILIKE ${pattern})`;
}

/**
 * Returns the condition that an id begins with one of the prefixes. It uses one index range per prefix, so the time
 * does not grow with the number of tasks.
 */
function idBeginsWith(prefixes: readonly string[], value: (added: PostgresValue) => string): string {
  const ranges = prefixes.flatMap((prefix) => {
    // No id contains the last code point. The range therefore contains every id with this prefix.
    const [from, to] = [value(prefix), value(`${prefix}\u{10FFFF}`)];
    return ['session_id', 'task_id'].map((column) => `(${column} >= ${from} AND ${column} < ${to})`);
  });
  return ranges.length === 0 ? 'FALSE' : `(${ranges.join(' OR ')})`;
}

/** Answers the queries of the journal with SQL, for both databases. */
import type { SqlRow } from '../../shared/state/sql-row.ts';
import { tenantOf } from '../access/requester.ts';
import { COST_COLUMNS_SQL, toCostRow } from './cost-row.ts';
import type { Journal, RecordedCommand, TaskRow } from './journal.ts';
import { decodePageToken, encodePageToken } from './page-token.ts';
import { isStorableText } from './prepared-append.ts';
import { requirePositive } from './require-positive.ts';
import type { SqlDialect, SqlReader, SqlStatement } from './sql-dialect.ts';
import { Conditions, filterConditions, ownerConditions } from './task-conditions.ts';
import {
  bytesColumn,
  integerColumn,
  nullableIntegerColumn,
  nullableNumberColumn,
  numberColumn,
  parseStateColumn,
  textColumn,
} from './validate-column-values.ts';
import { NOTHING_WRITTEN, type WrittenAmount } from './written-amounts.ts';

const SELECT_TASKS =
  'SELECT key, task_id, session_id, principal, state, seq, created_at, updated_at, title, deadline FROM tasks';

const FIND_ROW = { name: 'find_row', text: `${SELECT_TASKS} WHERE task_id = $1` };
const FIND_SESSION = {
  name: 'find_session',
  text: `${SELECT_TASKS} WHERE principal = $1 AND session_id = $2 ORDER BY key`,
};
const FIND_UNSETTLED = { text: `${SELECT_TASKS} WHERE state IN ('submitted', 'working') ORDER BY key` };
const FIND_DEADLINES = {
  name: 'find_deadlines',
  text: `${SELECT_TASKS} WHERE deadline IS NOT NULL ORDER BY deadline, key LIMIT $1`,
};
export const FIND_COMMAND = {
  name: 'find_command',
  text: `SELECT task_id, session_id, body_hash, commands.seq FROM commands JOIN tasks ON tasks.key = commands.task
         WHERE commands.principal = $1 AND message_id = $2`,
};
const FIND_TOOL_EXECUTION = {
  name: 'find_tool_execution',
  text: `SELECT task_id, principal FROM tool_executions JOIN tasks ON tasks.key = tool_executions.task
         WHERE tool_id = $1`,
};
const DAILY_USE = {
  name: 'daily_use',
  text: `SELECT (SELECT coalesce(sum(known_usd), 0) FROM costs WHERE principal = $1 AND day = $2),
                (SELECT usd FROM budget_extensions WHERE principal = $1 AND day = $2)`,
};
const DAILY_WRITTEN = {
  name: 'daily_written',
  text: `SELECT ${writtenSums('principal = $2')}, ${writtenSums('substr(principal, 1, length($3)) = $3')},
                ${writtenSums('TRUE')}
         FROM written WHERE day = $1`,
};
const TASK_SIZE = { name: 'task_size', text: 'SELECT seq, size FROM tasks WHERE task_id = $1' };
/** The indexes `tasks_by_state` and `waiting_tasks` answer this query and the next one. */
export const COUNT_TASKS_BY_STATE = 'SELECT state, count(*) FROM tasks GROUP BY state';
/**
 * Returns the query for the start of the longest current wait for a person. Its condition has the same words as the
 * condition of the index `waiting_tasks`, so that the query uses this index.
 */
export const waitingSinceQuery = ({ waitingTasks }: Pick<SqlDialect, 'waitingTasks'>): string =>
  `SELECT updated_at FROM ${waitingTasks} WHERE state IN ('input-required', 'auth-required') ORDER BY updated_at LIMIT 1`;

function writtenSums(condition: string): string {
  return ['events', 'bytes']
    .map((column) => `CAST(coalesce(sum(CASE WHEN ${condition} THEN ${column} END), 0) AS bigint)`)
    .join(', ');
}

/** The functions of the journal that only read, and return no events. */
type JournalQueries = Pick<
  Journal,
  | 'row'
  | 'rows'
  | 'command'
  | 'toolExecution'
  | 'content'
  | 'withSavedFiles'
  | 'list'
  | 'filterValues'
  | 'session'
  | 'costs'
  | 'dailyUse'
  | 'dailyWritten'
  | 'taskSize'
  | 'unsettled'
  | 'statistics'
  | 'deadlines'
>;

/**
 * @param ask runs a function that queries the database, and converts its errors to errors that name the database. The
 * function throws DamagedDataError for a row that the journal did not write. After the journal is closed, `ask` throws
 * SHUTTING_DOWN.
 */
export function createJournalQueries(
  ask: <Answer>(question: (database: SqlReader) => Promise<Answer>) => Promise<Answer>,
  dialect: SqlDialect,
): JournalQueries {
  const findRows = { name: 'find_rows', text: `${SELECT_TASKS} WHERE ${dialect.isListed}` };
  const findContent = { name: 'find_content', text: dialect.findContent };
  const findSaved = {
    name: 'find_saved',
    text: `${SELECT_TASKS} WHERE principal = $1 AND ${dialect.hasSavedFiles} ORDER BY updated_at DESC, key DESC`,
  };
  const waitingSince = { text: waitingSinceQuery(dialect) };

  const first = <Answer>(
    statement: SqlStatement,
    values: readonly string[],
    answerOf: (row: SqlRow) => Answer,
  ): Promise<Answer | undefined> =>
    ask(async (database) => {
      const [row] = await database.query(statement, values);
      return row && answerOf(row);
    });
  const tasks = (statement: SqlStatement, values: Parameters<SqlReader['query']>[1]): Promise<TaskRow[]> =>
    ask(async (database) => (await database.query(statement, values)).map(toTaskRow));

  return {
    row: async (taskId) => ask((database) => findTaskRow(database, taskId)),
    rows: (taskIds) => tasks(findRows, [taskIds.filter(isStorableText)]),
    command: async (principal, messageId) =>
      isStorableText(messageId) ? first(FIND_COMMAND, [principal, messageId], toRecordedCommand) : undefined,
    toolExecution: async (toolId) =>
      isStorableText(toolId)
        ? first(FIND_TOOL_EXECUTION, [toolId], (row) => ({
            taskId: textColumn(row[0]),
            principal: textColumn(row[1]),
          }))
        : undefined,
    async content(taskId, hash) {
      if (!isStorableText(taskId)) return undefined;
      return ask(async (database) => {
        const rows = await database.query(findContent, [taskId, hash]);
        const chunks = rows.map(([bytes]) => bytesColumn(bytes));
        return chunks.length > 1 ? Buffer.concat(chunks) : chunks[0];
      });
    },
    withSavedFiles: (principal) => tasks(findSaved, [principal]),
    list: (filter, { size, token, order = 'newest-first' }) =>
      ask(async (database) => {
        requirePositive(size);
        const after = token === undefined ? undefined : decodePageToken(token);
        const matching = filterConditions(filter, dialect);
        const { value, values } = matching;
        const count = { text: `SELECT count(*) FROM tasks WHERE ${matching.sql}` };
        const [[counted] = []] = await database.query(count, values);
        const total = integerColumn(counted);
        // A search for a text is slow. If the count is 0, the second query is not needed.
        if (total === 0) return { rows: [], tokens: [], total };
        const [comparison, direction] = order === 'newest-first' ? ['<', 'DESC'] : ['>', 'ASC'];
        if (after !== undefined)
          matching.add(`(updated_at, key) ${comparison} (${value(after.updatedAt)}, ${value(after.key)})`);
        // One extra row shows whether there is a next page.
        const text = `${SELECT_TASKS} WHERE ${matching.sql} ORDER BY updated_at ${direction}, key ${direction} LIMIT ${size + 1}`;
        const found = await database.query({ text }, values);
        const rows = found.slice(0, size);
        const tokens = rows.map((row) =>
          encodePageToken({ updatedAt: integerColumn(row[7]), key: integerColumn(row[0]) }),
        );
        const next = found.length > size ? tokens.at(-1) : undefined;
        return { rows: rows.map(toTaskRow), tokens, total, ...(next !== undefined && { next }) };
      }),
    filterValues: (owner) =>
      ask(async (database) => {
        const { sql, values } = ownerConditions(owner, dialect);
        const valuesOf = async (expression: string): Promise<string[]> => {
          const text = `SELECT DISTINCT ${expression} AS value FROM tasks WHERE ${sql} ORDER BY value`;
          const rows = await database.query({ text }, values);
          return rows.flatMap(([value]) => (value === null ? [] : textColumn(value)));
        };
        return { workspaces: await valuesOf(dialect.workspace), models: await valuesOf('model') };
      }),
    session: async (principal, sessionId) =>
      isStorableText(sessionId) ? tasks(FIND_SESSION, [principal, sessionId]) : [],
    async costs({ principal, fromDay, sessionId }) {
      if (!isStorableText(sessionId ?? '')) return [];
      const matching = new Conditions();
      matching.add(`principal = ${matching.value(principal)}`);
      if (fromDay !== undefined) matching.add(`day >= ${matching.value(fromDay)}`);
      if (sessionId !== undefined) matching.add(`session_id = ${matching.value(sessionId)}`);
      const text = `SELECT ${COST_COLUMNS_SQL} FROM costs WHERE ${matching.sql}`;
      return ask(async (database) => (await database.query({ text }, matching.values)).map(toCostRow));
    },
    dailyUse: (principal, day) =>
      ask(async (database) => {
        const [[usd, extendedAt] = []] = await database.query(DAILY_USE, [principal, day]);
        return { day, usd: numberColumn(usd), extendedAt: nullableNumberColumn(extendedAt) };
      }),
    dailyWritten: (principal, day) =>
      ask(async (database) => {
        const tenant = tenantOf(principal);
        const prefix = tenant === undefined ? '' : `${tenant}/`;
        const [sums = []] = await database.query(DAILY_WRITTEN, [day, principal, prefix]);
        return {
          principal: toWrittenAmount(sums),
          ...(tenant !== undefined && { tenant: toWrittenAmount(sums.slice(2)) }),
          server: toWrittenAmount(sums.slice(4)),
        };
      }),
    taskSize: async (taskId) => (await first(TASK_SIZE, [taskId], toWrittenAmount)) ?? NOTHING_WRITTEN,
    unsettled: () => tasks(FIND_UNSETTLED, []),
    statistics: () =>
      ask(async (database) => {
        const [[since = null] = []] = await database.query(waitingSince);
        const [[bytes] = []] = await database.query({ text: dialect.databaseSize });
        const counts = await database.query({ text: COUNT_TASKS_BY_STATE });
        return {
          tasks: Object.fromEntries(
            counts.map(([state, count]) => [parseStateColumn(state), integerColumn(count)]),
          ),
          waitingSince: nullableNumberColumn(since),
          bytes: integerColumn(bytes),
        };
      }),
    deadlines: async (limit) => tasks(FIND_DEADLINES, [requirePositive(limit)]),
  };
}

/** Implements `Journal.row`. */
export async function findTaskRow(database: SqlReader, taskId: string): Promise<TaskRow | undefined> {
  if (!isStorableText(taskId)) return undefined;
  const [row] = await database.query(FIND_ROW, [taskId]);
  return row && toTaskRow(row);
}

/** @param row a row of `SELECT_TASKS` @throws DamagedDataError */
function toTaskRow(row: SqlRow): TaskRow {
  return {
    taskId: textColumn(row[1]),
    sessionId: textColumn(row[2]),
    principal: textColumn(row[3]),
    state: parseStateColumn(row[4]),
    seq: integerColumn(row[5]),
    createdAt: integerColumn(row[6]),
    updatedAt: integerColumn(row[7]),
    title: textColumn(row[8]),
    deadline: nullableIntegerColumn(row[9]),
  };
}

/** @param row a row of `FIND_COMMAND` @throws DamagedDataError */
export function toRecordedCommand(row: SqlRow): RecordedCommand {
  return {
    taskId: textColumn(row[0]),
    sessionId: textColumn(row[1]),
    bodyHash: textColumn(row[2]),
    seq: integerColumn(row[3]),
  };
}

function toWrittenAmount([events, bytes]: SqlRow): WrittenAmount {
  return { events: integerColumn(events), bytes: integerColumn(bytes) };
}

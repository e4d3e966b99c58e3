/**
 * Writes a group of appends in one round trip. Each append succeeds or fails separately.
 *
 * - J1: the database changes a task only if it has the expected `seq`. The primary key of `events` is a second check.
 * - J2: the same statement writes the events, the index, the message ids and the sums of costs.
 * - A head is the last `seq` and the state of a task. The appends are decided on the cached heads of their tasks. If
 *   the database has another state, nothing is written. Then the heads are read, and the appends are decided again.
 * - E3: if the connection breaks during a commit, the number of the last commit shows whether it was written.
 */
import { setBounded } from '../../../shared/runtime/set-bounded.ts';
import type { SqlRow } from '../../../shared/state/sql-row.ts';
import {
  integerColumn,
  nullableIntegerColumn,
  nullableTextColumn,
  parseStateColumn,
  textColumn,
} from '../validate-column-values.ts';
import type { RecordedCommand } from '../journal.ts';
import { toRecordedCommand } from '../journal-queries.ts';
import type { AppendOutcome } from '../judge-append.ts';
import type { PreparedAppend } from '../prepared-append.ts';
import { SQLSTATE_SERVER_REMOVED, SQLSTATE_STALE, SQLSTATE_UNIQUE_VIOLATION } from './append-batch-sql.ts';
import {
  AppendBatch,
  commandMapKey,
  type KnownDatabaseState,
  sessionMapKey,
  type StoredTaskHead,
} from './append-batch.ts';
import { type PostgresConnection, isDatabaseUnavailable, PostgresError } from './driver.ts';
import type { PostgresWriterConnection } from './writer-connection.ts';

/** The maximum number of cached heads (the `seq` and state of a task). A head has some hundred bytes. */
const MAX_HEADS = 10_000;

/**
 * The maximum number of times that one commit is decided. It is decided again if other servers change the same tasks.
 */
const MAX_ATTEMPTS = 20;

/**
 * The maximum number of times that one commit is sent. It is sent again after a broken connection. The writer waits for
 * each new connection.
 */
const MAX_CONNECTIONS = 5;

const APPEND = {
  name: 'append_batch',
  text: 'SELECT append_batch($1, $2, $3, $4, $5, $6, $7, $8)',
};
const FIND_HEADS = {
  name: 'find_heads',
  text: `SELECT task_id, key, seq, state, title, deadline, principal, session_id, model, saved, epoch,
                size
         FROM tasks
         WHERE task_id = ANY ($1)`,
};
const FIND_LEASE = {
  name: 'find_lease',
  text: 'SELECT lease_until > clock_timestamp() FROM nodes WHERE id = $1',
};
const FIND_COMMANDS = {
  name: 'find_commands',
  text: `SELECT commands.principal, message_id, task_id, session_id, body_hash, commands.seq
         FROM unnest($1::text[], $2::text[]) AS asked (principal, id)
         JOIN commands ON commands.principal = asked.principal AND message_id = asked.id
         JOIN tasks ON tasks.key = commands.task`,
};
const FIND_LIVE_TASKS = {
  name: 'find_live_tasks',
  text: `SELECT tasks.principal, session_id, task_id
         FROM unnest($1::text[], $2::text[]) AS asked (principal, id)
         JOIN tasks ON tasks.principal = asked.principal AND session_id = asked.id
         WHERE state NOT IN ('completed', 'failed', 'canceled', 'rejected')`,
};

/** An append whose caller waits for a limited time. */
export interface LimitedAppend extends PreparedAppend {
  /**
   * The time at which the caller stops waiting and gets an error, by `performance.now()`. E3: a refused command changes
   * nothing, so the append must not be sent after this time.
   */
  until: number;
}

export function timeLimitError(): PostgresError {
  return new PostgresError('TIMEOUT', 'the time limit of the request has passed', undefined);
}

type BatchWriter = Pick<PostgresWriterConnection, 'id' | 'batch' | 'noteBatch' | 'removed' | 'run'>;

export class Appender {
  readonly #writer: BatchWriter;
  readonly #clock: () => number;
  readonly #heads = new Map<string, StoredTaskHead>();

  constructor(writer: BatchWriter, clock: () => number) {
    this.#writer = writer;
    this.#clock = clock;
  }

  /**
   * Writes the appends. They are durable when this resolves. If PostgreSQL refuses the commit, this function writes
   * each append alone. Then only the appends that PostgreSQL cannot store fail.
   * @throws ServerRemovedError, PostgresError
   */
  async commit(appends: readonly LimitedAppend[]): Promise<AppendOutcome[]> {
    try {
      return await this.#commitTogether(appends);
    } catch (error) {
      const isRefusal = error instanceof PostgresError && !isDatabaseUnavailable(error);
      if (!isRefusal || appends.length === 1) throw error;
    }
    const outcomes: AppendOutcome[] = [];
    for (const append of appends) outcomes.push(await this.#commitAlone(append));
    return outcomes;
  }

  async #commitAlone(append: LimitedAppend): Promise<AppendOutcome> {
    try {
      const [outcome] = await this.#commitTogether([append]);
      return outcome ?? { type: 'refused', error: new Error('the commit has no outcome') };
    } catch (error) {
      return { type: 'refused', error: error instanceof Error ? error : new Error(String(error)) };
    }
  }

  async #commitTogether(appends: readonly LimitedAppend[]): Promise<AppendOutcome[]> {
    for (let attempt = 1; ; attempt += 1) {
      const known =
        attempt === 1 &&
        appends.every(({ taskId, expectedSeq }) => expectedSeq === 0 || this.#heads.has(taskId))
          ? this.#stateFromCache(appends)
          : await this.#readState(appends);
      const batch = new AppendBatch(known.state, this.#clock());
      const inTime = appends.filter((append) => !isOver(append));
      const outcomes = appends.map((append): AppendOutcome =>
        inTime.includes(append) ? batch.add(append) : { type: 'refused', error: timeLimitError() },
      );
      // The cached states of tasks may be outdated, so a refusal may be wrong. The database's index of live tasks
      // also does not check a new task that ends in this batch. In both cases, the appends are decided again with
      // states from the database.
      if (known.source === 'cache' && (batch.createsEndedTask || !outcomes.every(isAppended))) continue;
      if (!batch.writes) return outcomes;
      const created = await this.#write(batch, inTime);
      if (created !== 'stale') {
        this.#cacheHeads(batch.headsAfter(created));
        return outcomes;
      }
      this.forget();
      if (attempt === MAX_ATTEMPTS)
        throw new PostgresError('STALE', 'the tasks change faster than they can be read', undefined);
    }
  }

  /** Stores the epoch of a claim of this server, so that the owner's next append needs only one round trip. */
  noteEpoch(taskId: string, epoch: number): void {
    const head = this.#heads.get(taskId);
    if (head !== undefined && head.epoch < epoch) this.#heads.set(taskId, { ...head, epoch });
  }

  /** Removes the cached states of all tasks. Must be called after tasks were deleted. */
  forget(): void {
    this.#heads.clear();
  }

  /**
   * Sends the batch until its outcome is known. Returns the keys of the new tasks. Returns `stale` if the batch must be
   * built again: the database has another state, or the time of an append has passed.
   * @param appends the appends in the batch
   * @throws PostgresError TIMEOUT if the time of all appends has passed
   */
  async #write(batch: AppendBatch, appends: readonly LimitedAppend[]): Promise<readonly number[] | 'stale'> {
    const parameters = batch.parameters();
    let sent: number | undefined;
    for (let attempt = 1; ; attempt += 1) {
      let sending = false;
      try {
        return await this.#writer.run(async (connection) => {
          // After a reconnection, `#writer.batch` is the number of this server's last commit in the database. If this
          // number is `sent`, the database wrote the batch before the old connection broke.
          if (sent !== undefined && this.#writer.batch === sent) return this.#keysOf(batch, connection);
          if (appends.every(isOver)) throw timeLimitError();
          if (appends.some(isOver)) return 'stale';
          sent = this.#writer.batch + 1;
          sending = true;
          const values = [this.#writer.id, sent, batch.at, ...parameters];
          const [[created] = []] = await connection.query(APPEND, values);
          this.#writer.noteBatch(sent);
          return Array.isArray(created) ? created.map(integerColumn) : [];
        });
      } catch (error) {
        if (error instanceof PostgresError) {
          if (error.code === SQLSTATE_STALE || error.code === SQLSTATE_UNIQUE_VIOLATION) return 'stale';
          if (error.code === SQLSTATE_SERVER_REMOVED) throw this.#writer.removed(error);
        }
        if (!isDatabaseUnavailable(error) || !sending || attempt === MAX_CONNECTIONS) throw error;
      }
    }
  }

  /** Returns the keys of the tasks that the batch has created. */
  async #keysOf(batch: AppendBatch, connection: PostgresConnection): Promise<readonly number[]> {
    const rows = await connection.query(FIND_HEADS, [batch.createdIds()]);
    const keys = new Map(rows.map((row) => [textColumn(row[0]), integerColumn(row[1])]));
    return batch.createdIds().map((taskId) => keys.get(taskId) ?? Number.NaN);
  }

  #stateFromCache(appends: readonly PreparedAppend[]): { source: 'cache'; state: KnownDatabaseState } {
    const heads = new Map(
      appends.flatMap(({ taskId }) => {
        const head = this.#heads.get(taskId);
        return head === undefined ? [] : [[taskId, head] as const];
      }),
    );
    return { source: 'cache', state: { heads, commands: new Map(), liveTasks: new Map(), leased: true } };
  }

  async #readState(
    appends: readonly PreparedAppend[],
  ): Promise<{ source: 'database'; state: KnownDatabaseState }> {
    const commands = appends.flatMap(({ command }) => (command === undefined ? [] : [command]));
    const sessions = appends.flatMap(({ events: [first] }) =>
      first?.type === 'task.created' ? [first] : [],
    );
    const asOwner = appends.some(({ epoch }) => epoch !== undefined);
    const state = await this.#writer.run(async (connection) => ({
      leased: asOwner && (await connection.query(FIND_LEASE, [this.#writer.id]))[0]?.[0] === true,
      heads: headsIn(await connection.query(FIND_HEADS, [appends.map(({ taskId }) => taskId)])),
      commands:
        commands.length === 0
          ? new Map<string, RecordedCommand>()
          : commandsIn(
              await connection.query(FIND_COMMANDS, [
                commands.map(({ principal }) => principal),
                commands.map(({ messageId }) => messageId),
              ]),
            ),
      liveTasks:
        sessions.length === 0
          ? new Map<string, string>()
          : liveTasksIn(
              await connection.query(FIND_LIVE_TASKS, [
                sessions.map(({ principal }) => principal),
                sessions.map(({ sessionId }) => sessionId),
              ]),
            ),
    }));
    return { source: 'database', state };
  }

  #cacheHeads(heads: ReadonlyMap<string, StoredTaskHead>): void {
    for (const [taskId, head] of heads) setBounded(this.#heads, taskId, head, MAX_HEADS);
  }
}

function isOver({ until }: Pick<LimitedAppend, 'until'>): boolean {
  return performance.now() >= until;
}

function isAppended(outcome: AppendOutcome): boolean {
  return outcome.type === 'done' && outcome.result.type === 'appended';
}

function headsIn(rows: readonly SqlRow[]): Map<string, StoredTaskHead> {
  return new Map(
    rows.map((row) => [
      textColumn(row[0]),
      {
        key: integerColumn(row[1]),
        seq: integerColumn(row[2]),
        state: parseStateColumn(row[3]),
        title: textColumn(row[4]),
        deadline: nullableIntegerColumn(row[5]),
        principal: textColumn(row[6]),
        sessionId: textColumn(row[7]),
        model: nullableTextColumn(row[8]),
        saved: row[9] === true,
        epoch: integerColumn(row[10]),
        size: integerColumn(row[11]),
      },
    ]),
  );
}

function commandsIn(rows: readonly SqlRow[]): Map<string, RecordedCommand> {
  return new Map(
    rows.map((row) => [
      commandMapKey({ principal: textColumn(row[0]), messageId: textColumn(row[1]) }),
      toRecordedCommand(row.slice(2)),
    ]),
  );
}

function liveTasksIn(rows: readonly SqlRow[]): Map<string, string> {
  return new Map(
    rows.map((row) => [
      sessionMapKey({ principal: textColumn(row[0]), sessionId: textColumn(row[1]) }),
      textColumn(row[2]),
    ]),
  );
}

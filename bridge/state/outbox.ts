/**
 * The outbox: it stores every delegation before its message is sent. B1: a delegation happens exactly once. An entry is
 * open until the client has the result. Its owner is the process that sends the message. After that process has ended,
 * another process takes over the entry.
 */
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { SqliteValue } from '../../shared/sqlite/driver.ts';
import type { TaskStateName } from '../dialects/observation.ts';
import type { OutboxEntry } from './outbox-entry.ts';
import type { BridgeDatabase } from './database.ts';
import type { ProcessId } from './process-id.ts';
import { DELEGATION_COLUMNS, toOutboxEntry, toDelegationRow } from './delegation-row.ts';

/**
 * The maximum number of closed entries, which provide the session ids of agents that cannot list tasks. Also the maximum
 * number of lost entries, which explain what happened to a message.
 */
const MAX_CLOSED_ENTRIES = 500;

export interface DelegatedTaskId {
  agent: string;
  taskId: string;
  sessionId: string;
}

/** The contents of files, by SHA-256 (hex). */
export type FileContents = ReadonlyMap<string, Uint8Array>;

const IS_OPEN = `state <> 'collected'`;

/**
 * An SQL condition for the rows of one task. Its values are the task id and the session id. If an agent answers with a
 * message, it creates no task, and the task id is ''. Such rows are compared by their session id.
 */
export const SAME_TASK = `task_id = ? AND (task_id <> '' OR session_id = ?)`;

export class Outbox {
  readonly #database: BridgeDatabase;

  constructor(database: BridgeDatabase) {
    this.#database = database;
  }

  /**
   * Writes the entry. When this method returns, the entry is durable, and its message may be sent.
   * @throws ProductError STORAGE if the entry cannot be written. R28: nothing is partly written, and the message is not
   * sent.
   */
  put(entry: OutboxEntry, contents: FileContents = new Map()): void {
    const database = this.#database;
    try {
      const marks = DELEGATION_COLUMNS.map(() => '?').join(', ');
      database.transaction(() => {
        database.run(
          `INSERT INTO delegations (${DELEGATION_COLUMNS.join(', ')}) VALUES (${marks})`,
          ...toDelegationRow(entry, database.owner),
        );
        for (const [hash, bytes] of contents)
          database.run('INSERT INTO delegation_files VALUES (?, ?, ?)', entry.messageId, hash, bytes);
      });
    } catch (error) {
      throw new ProductError(
        'STORAGE',
        `The bridge could not record the delegation in ${this.#database.path} (${errorMessageOf(error)}), so it sent nothing. Free some space on that disk, or make the file writable for this user. Then delegate again.`,
        { cause: error },
      );
    }
  }

  /** Returns the contents of the files of an open entry, by hash. */
  contents(messageId: string): FileContents {
    const rows = this.#database.rows(
      'SELECT hash, bytes FROM delegation_files WHERE message_id = ?',
      messageId,
    );
    return new Map(
      rows.flatMap(([hash, bytes]) => (bytes instanceof Uint8Array ? [[String(hash), bytes] as const] : [])),
    );
  }

  /**
   * Runs the changes in one commit with other changes of the same few milliseconds. Resolves when the commit is
   * durable.
   * @throws ProductError STORAGE
   */
  inOneCommit(change: () => void): Promise<void> {
    return this.#database.inOneCommit(change);
  }

  /** Changes an open entry. Does nothing if there is no open entry with this message id. */
  update(messageId: string, change: Partial<Pick<OutboxEntry, 'state' | 'cancel' | 'answered'>>): void {
    const { state, cancel, answered } = change;
    const of = `WHERE message_id = ? AND ${IS_OPEN}`;
    this.#database.transaction(() => {
      if (state !== undefined) {
        const named = state.type === 'accepted' ? state : { taskId: null, sessionId: null };
        const problem = state.type === 'lost' ? state.message : null;
        const set = 'SET state = ?, task_id = ?, session_id = ?, problem = ?';
        this.#database.run(
          `UPDATE delegations ${set} ${of}`,
          state.type,
          named.taskId,
          named.sessionId,
          problem,
          messageId,
        );
        if (state.type === 'lost') this.#forgetOldest('lost');
      }
      if (cancel !== undefined)
        this.#database.run(`UPDATE delegations SET cancel = ? ${of}`, cancel, messageId);
      if (answered !== undefined)
        this.#database.run(`UPDATE delegations SET answered = ? ${of}`, answered ? 1 : 0, messageId);
    });
  }

  /** Deletes the open entry of a message that was not delivered. */
  drop(messageId: string): void {
    this.#database.run(`DELETE FROM delegations WHERE message_id = ? AND ${IS_OPEN}`, messageId);
  }

  /**
   * Records that the client has the result of this task. Closes the entries of the task, including the entries of other
   * bridges, and deletes their texts.
   */
  collect({ agent, taskId, sessionId }: DelegatedTaskId, ended: TaskStateName): void {
    this.#database.transaction(() => {
      const closed = this.#database.run(
        `UPDATE delegations SET state = 'collected', ended = ?, handed_over_by = NULL,
           work = json_set(work, '$.text', '') WHERE agent = ? AND ${SAME_TASK} AND state = 'accepted'`,
        ended,
        agent,
        taskId,
        sessionId,
      );
      if (closed > 0) this.#forgetOldest('collected');
    });
  }

  /** Returns the open entries of all bridges of the user, oldest first. */
  open(): readonly OutboxEntry[] {
    return this.#select(`WHERE ${IS_OPEN} ORDER BY created_at, rowid`);
  }

  /**
   * Returns all entries of all bridges of the user. The open entries come first. Within each group, the oldest entry is
   * first.
   */
  entries(): readonly OutboxEntry[] {
    return this.#select(`ORDER BY state = 'collected', created_at`);
  }

  /** Returns the entries with this message id, session id or task id, oldest first. */
  findByHandle(handle: string, agent?: string): readonly OutboxEntry[] {
    return this.#select(
      `WHERE (message_id = ?1 OR session_id = ?1 OR task_id = ?1) AND (?2 IS NULL OR agent = ?2)
       ORDER BY created_at, rowid`,
      handle,
      agent ?? null,
    );
  }

  /**
   * Returns the delegation to this agent that has this task id, or whose message has started the task.
   * @param taskId '' if the agent has not sent the id yet
   */
  findByTaskOrMessage(agent: string, taskId: string, messageId: string): OutboxEntry | undefined {
    return this.#select(
      `WHERE agent = ?1
         AND ((?2 <> '' AND task_id = ?2) OR (message_id = ?3 AND json_extract(work, '$.taskId') IS NULL))
       ORDER BY state = 'collected' DESC, created_at DESC LIMIT 1`,
      agent,
      taskId,
      messageId,
    )[0];
  }

  /** Returns the open entry of a task. Returns undefined if there is none. */
  findOpenByTask(agent: string, taskId: string): OutboxEntry | undefined {
    return this.#select(`WHERE task_id = ? AND agent = ? AND state = 'accepted' LIMIT 1`, taskId, agent)[0];
  }

  /**
   * Makes this process the owner of the open entries of processes that have ended. Each entry is taken over by one
   * process only.
   */
  async takeOverOrphaned(): Promise<readonly OutboxEntry[]> {
    const database = this.#database;
    const taken: OutboxEntry[] = [];
    for (const owner of await this.#endedOwners(IS_OPEN)) {
      database.transaction(() => {
        taken.push(...this.#select(`WHERE owner = ? AND ${IS_OPEN} ORDER BY created_at`, owner));
        database.run(
          `UPDATE delegations SET owner = ? WHERE owner = ? AND ${IS_OPEN}`,
          database.owner,
          owner,
        );
      });
    }
    return taken;
  }

  /** Returns true if processes that have ended left messages to deliver, or results to announce. */
  async hasOrphanedWork(): Promise<boolean> {
    return (await this.#endedOwners(`state IN ('sending', 'accepted')`)).length > 0;
  }

  /** Returns the ids of processes that have ended and own entries with this SQL condition. */
  #endedOwners(condition: string): Promise<readonly ProcessId[]> {
    const owners = this.#database.rows(
      `SELECT DISTINCT owner FROM delegations WHERE ${condition} AND owner <> ?`,
      this.#database.owner,
    );
    return this.#database.ended(owners.map(([owner]) => String(owner)));
  }

  /** Releases the accepted entries of this process, so that another bridge can take them over now. */
  release(): void {
    this.#database.run(
      `UPDATE delegations SET owner = '' WHERE owner = ? AND state = 'accepted'`,
      this.#database.owner,
    );
  }

  /** Returns the open entries of this process with this title, oldest first. */
  openWithTitle(title: string): readonly OutboxEntry[] {
    return this.#select(
      `WHERE ${IS_OPEN} AND owner = ? AND title = ? ORDER BY created_at`,
      this.#database.owner,
      title,
    );
  }

  /** Returns the accepted entries of this process with a recorded cancel, oldest first. */
  cancels(): readonly OutboxEntry[] {
    return this.#select(
      `WHERE cancel IS NOT NULL AND state = 'accepted' AND owner = ? ORDER BY created_at`,
      this.#database.owner,
    );
  }

  /** Returns the entries of this process whose message has perhaps not arrived, oldest first. */
  sending(): readonly OutboxEntry[] {
    return this.#select(`WHERE state = 'sending' AND owner = ? ORDER BY created_at`, this.#database.owner);
  }

  /** Returns the tasks of this process that may still run, newest first. @param most the maximum number of tasks */
  listUnfinishedTasks(most: number): readonly DelegatedTaskId[] {
    const rows = this.#database.rows(
      `SELECT agent, task_id, session_id FROM delegations WHERE state = 'accepted' AND ended IS NULL AND owner = ?
         ORDER BY created_at DESC LIMIT ?`,
      this.#database.owner,
      most,
    );
    return rows.map(([agent, taskId, sessionId]) => ({
      agent: String(agent),
      taskId: String(taskId),
      sessionId: String(sessionId),
    }));
  }

  /**
   * Returns the title of a task, if this bridge has another open task too. Tasks that this bridge has taken over from
   * earlier bridges count. Returns undefined if there is no other open task, if this task is unknown, or if several
   * agents have a task with this id.
   */
  titleAmongSeveral(taskId: string): string | undefined {
    // With `min`, SQLite takes the title from the row with the lowest `created_at`.
    const tasks = this.#database.rows(
      `SELECT task_id, title, min(created_at) FROM delegations
         WHERE state = 'accepted' AND ended IS NULL AND owner = ? GROUP BY agent, task_id`,
      this.#database.owner,
    );
    const [only, another] = tasks.filter(([id]) => id === taskId);
    return tasks.length > 1 && only !== undefined && another === undefined ? String(only[1]) : undefined;
  }

  #select(rest: string, ...values: SqliteValue[]): readonly OutboxEntry[] {
    const rows = this.#database.rows(
      `SELECT ${DELEGATION_COLUMNS.join(', ')} FROM delegations ${rest}`,
      ...values,
    );
    return this.#database.checked(() => rows.map(toOutboxEntry));
  }

  #forgetOldest(state: 'collected' | 'lost'): void {
    this.#database.run(
      `DELETE FROM delegations WHERE state = ?1 AND created_at <
         (SELECT created_at FROM delegations WHERE state = ?1 ORDER BY created_at DESC LIMIT 1 OFFSET ?2)`,
      state,
      MAX_CLOSED_ENTRIES - 1,
    );
  }
}

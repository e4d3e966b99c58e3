/**
 * Stores the results that no client has collected. R68: the bridge announces them until a client collects them. A
 * process may have sent a result to its client, which has not confirmed the reply yet. While that process runs, this
 * result is not announced.
 */
import { z } from 'zod';
import { clientSessionStateSchema, toClientSessionState } from '../dialects/session-state-for-client.ts';
import { TASK_STATE_NAMES, type TaskStateName } from '../dialects/observation.ts';
import type { SqliteValue } from '../../shared/sqlite/driver.ts';
import type { BridgeDatabase } from './database.ts';
import { type DelegatedTaskId, SAME_TASK } from './outbox.ts';

/** A result that no client has collected. */
const waitingResultSchema = z.object({
  sessionId: z.string(),
  taskId: z.string(),
  agent: z.string(),
  state: clientSessionStateSchema,
  title: z.string(),
});
export type WaitingResult = z.infer<typeof waitingResultSchema>;

/** A delegation whose result no client has confirmed. Its task may still run. */
export interface UncollectedTask {
  agent: string;
  taskId: string;
  sessionId: string;
  title: string;
  /** The final state of the task. Null if no bridge has recorded the end of the task. */
  ended: TaskStateName | null;
  /** The directory in which the person delegated the task. Null if unknown. */
  delegatedIn: string | null;
  /** True if this process is responsible for the delegation. */
  own: boolean;
}

export type ResultKey = string;

/**
 * The maximum number of results that are announced. `list_all_active_sessions` still lists the sessions of older
 * results.
 */
const MAX_ANNOUNCED_RESULTS = 200;

/** @param task its task id is '' if the agent has answered with a message; the session id distinguishes such results */
export const resultKey = ({ agent, taskId, sessionId }: DelegatedTaskId): ResultKey =>
  JSON.stringify(taskId === '' ? [agent, taskId, sessionId] : [agent, taskId]);

export class WaitingResults {
  readonly #database: BridgeDatabase;

  constructor(database: BridgeDatabase) {
    this.#database = database;
  }

  /**
   * Records the end of a delegation's task. Does nothing if no open delegation has this task.
   * @throws ProductError STORAGE
   */
  put({ agent, taskId, sessionId }: DelegatedTaskId, ended: TaskStateName): Promise<void> {
    return this.#write(
      `UPDATE delegations SET ended = ?, ended_at = coalesce(ended_at, ?)
         WHERE ${SAME_TASK} AND agent = ? AND state = 'accepted'`,
      ended,
      Date.now(),
      taskId,
      sessionId,
      agent,
    );
  }

  /**
   * Deletes a recorded end, because the session continues in the same task. The next end of that task is a new result.
   * @throws ProductError STORAGE
   */
  reopen({ agent, taskId, sessionId }: DelegatedTaskId): Promise<void> {
    return this.#write(
      `UPDATE delegations SET ended = NULL, ended_at = NULL, handed_over_by = NULL
         WHERE ${SAME_TASK} AND agent = ? AND state = 'accepted' AND ended IS NOT NULL`,
      taskId,
      sessionId,
      agent,
    );
  }

  /**
   * Records that this process sends the result to the client in a reply. Also marks the recorded results of earlier
   * tasks of the session as sent.
   * @throws ProductError STORAGE
   */
  handOver({ agent, taskId, sessionId }: DelegatedTaskId, ended: TaskStateName): Promise<void> {
    return this.#write(
      `UPDATE delegations SET handed_over_by = ?1, ended_at = coalesce(ended_at, ?2),
           ended = CASE WHEN task_id = ?3 THEN ?4 ELSE ended END
         WHERE agent = ?5 AND state = 'accepted'
           AND ((task_id = ?3 AND (?3 <> '' OR session_id = ?6)) OR (session_id = ?6 AND ended IS NOT NULL))`,
      this.#database.owner,
      Date.now(),
      taskId,
      ended,
      agent,
      sessionId,
    );
  }

  /** Waits for all pending writes of this bridge. Then returns the results to announce, oldest first. */
  async waiting(): Promise<readonly WaitingResult[]> {
    const tasks = await this.#uncollected('AND ended IS NOT NULL');
    return tasks.map(({ ended, ...task }) =>
      waitingResultSchema.parse({
        ...task,
        // `unknown` is the final state of a task that its agent has forgotten.
        state: toClientSessionState(ended === null || ended === 'unknown' ? 'unknown-to-agent' : ended),
      }),
    );
  }

  /**
   * Returns the delegations whose result no client has confirmed: the newest `MAX_ANNOUNCED_RESULTS`, oldest first.
   * Their tasks may still run.
   */
  uncollected(): Promise<readonly UncollectedTask[]> {
    return this.#uncollected('');
  }

  /**
   * Reads the delegations whose result no client has confirmed. Leaves out a result that a running process has sent to
   * its client, even if the client has not confirmed the reply.
   */
  async #uncollected(condition: '' | 'AND ended IS NOT NULL'): Promise<readonly UncollectedTask[]> {
    await this.#database.written();
    const rows = this.#database.rows(
      `SELECT agent, task_id, session_id, title, ended, handed_over_by, json_extract(work, '$.delegatedIn'), owner
         FROM delegations
         WHERE state = 'accepted' ${condition} AND coalesce(handed_over_by, '') <> ?
         ORDER BY ended_at DESC, created_at DESC LIMIT ?`,
      this.#database.owner,
      MAX_ANNOUNCED_RESULTS,
    );
    const owners = rows.flatMap((row) => (typeof row[5] === 'string' ? [row[5]] : []));
    const endedOwners = new Set(await this.#database.ended([...new Set(owners)]));
    const tasks = new Map<ResultKey, UncollectedTask>();
    for (const [agent, taskId, sessionId, title, ended, by, delegatedIn, owner] of rows.toReversed()) {
      if (typeof by === 'string' && !endedOwners.has(by)) continue;
      const task = {
        agent: String(agent),
        taskId: String(taskId),
        sessionId: String(sessionId),
        title: String(title),
        ended: ended === null ? null : (TASK_STATE_NAMES.find((each) => each === ended) ?? 'unknown'),
        delegatedIn: typeof delegatedIn === 'string' ? delegatedIn : null,
        own: owner === this.#database.owner,
      };
      tasks.set(resultKey(task), task);
    }
    return [...tasks.values()];
  }

  /** Returns the ended tasks of a session whose results the client has not confirmed. */
  tasksOf(agent: string, sessionId: string): readonly string[] {
    return this.#database
      .rows(
        `SELECT DISTINCT task_id FROM delegations
           WHERE session_id = ? AND agent = ? AND state = 'accepted' AND ended IS NOT NULL`,
        sessionId,
        agent,
      )
      .map(([taskId]) => String(taskId));
  }

  #write(sql: string, ...values: SqliteValue[]): Promise<void> {
    return this.#database.inOneCommit(() => void this.#database.run(sql, ...values));
  }
}

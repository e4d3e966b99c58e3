/**
 * Stores the inbox (R68): delegations whose task has ended, but whose result no client has confirmed. A result may be
 * in a reply that the client has not confirmed. While the process that sent this reply runs, the result is not
 * announced.
 */
import { z } from 'zod';
import { mcpStateSchema, toMcpState } from '../dialects/mcp-state.ts';
import { TASK_STATE_NAMES, type TaskStateName } from '../dialects/observation.ts';
import type { SqlValue } from '../../shared/sqlite/driver.ts';
import type { BridgeDatabase } from './database.ts';

/** A result that no client has collected. */
const waitingResultSchema = z.object({
  sessionId: z.string(),
  taskId: z.string(),
  agent: z.string(),
  state: mcpStateSchema,
  title: z.string(),
});
export type WaitingResult = z.infer<typeof waitingResultSchema>;

export type ResultKey = string;

/** The maximum number of announced results. `list_all_active_sessions` still shows the sessions of older results. */
const ANNOUNCED = 200;

export const resultKey = ({ agent, taskId }: Pick<WaitingResult, 'agent' | 'taskId'>): ResultKey =>
  JSON.stringify([agent, taskId]);

export class WaitingResults {
  readonly #database: BridgeDatabase;

  constructor(database: BridgeDatabase) {
    this.#database = database;
  }

  /**
   * Records the end of a delegation's task. Does nothing if no open delegation has this task. @throws ProductError
   * STORAGE
   */
  put(agent: string, taskId: string, ended: TaskStateName): Promise<void> {
    return this.#write(
      `UPDATE delegations SET ended = ?, ended_at = coalesce(ended_at, ?)
         WHERE task_id = ? AND agent = ? AND state = 'accepted'`,
      ended,
      Date.now(),
      taskId,
      agent,
    );
  }

  /**
   * Removes a recorded end, because the session continues in the same task. Its next end is a new result. @throws
   * ProductError STORAGE
   */
  reopen(agent: string, taskId: string): Promise<void> {
    return this.#write(
      `UPDATE delegations SET ended = NULL, ended_at = NULL, handed_over_by = NULL
         WHERE task_id = ? AND agent = ? AND state = 'accepted' AND ended IS NOT NULL`,
      taskId,
      agent,
    );
  }

  /**
   * Records that a reply of this process contains the result, and earlier results of the session.
   * @throws ProductError STORAGE
   */
  handOver(
    { agent, taskId, sessionId }: Pick<WaitingResult, 'agent' | 'taskId' | 'sessionId'>,
    ended: TaskStateName,
  ): Promise<void> {
    return this.#write(
      `UPDATE delegations SET handed_over_by = ?1, ended_at = coalesce(ended_at, ?2),
           ended = CASE WHEN task_id = ?3 THEN ?4 ELSE ended END
         WHERE agent = ?5 AND state = 'accepted'
           AND (task_id = ?3 OR (session_id = ?6 AND ended IS NOT NULL))`,
      this.#database.owner,
      Date.now(),
      taskId,
      ended,
      agent,
      sessionId,
    );
  }

  /** Returns the results to announce, oldest first. Earlier writes of this bridge are made durable first. */
  async waiting(): Promise<readonly WaitingResult[]> {
    await this.#database.written();
    const rows = this.#database.rows(
      `SELECT agent, task_id, session_id, title, ended, handed_over_by FROM delegations
         WHERE state = 'accepted' AND ended IS NOT NULL AND coalesce(handed_over_by, '') <> ?
         ORDER BY ended_at DESC LIMIT ?`,
      this.#database.owner,
      ANNOUNCED,
    );
    const owners = rows.flatMap((row) => (typeof row[5] === 'string' ? [row[5]] : []));
    const ended = new Set(await this.#database.ended([...new Set(owners)]));
    const results = new Map<ResultKey, WaitingResult>();
    for (const [agent, taskId, sessionId, title, state, by] of rows.toReversed()) {
      if (typeof by === 'string' && !ended.has(by)) continue;
      const result = waitingResultSchema.parse({
        agent,
        taskId,
        sessionId,
        title,
        // `unknown` is the final state of a task that its agent has forgotten.
        state: toMcpState(
          TASK_STATE_NAMES.find((each) => each === state && each !== 'unknown') ?? 'unknown-to-agent',
        ),
      });
      results.set(resultKey(result), result);
    }
    return [...results.values()];
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

  #write(sql: string, ...values: SqlValue[]): Promise<void> {
    return this.#database.together(() => void this.#database.run(sql, ...values));
  }
}

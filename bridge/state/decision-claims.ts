/**
 * Records which message decides a call, for agents that run a call once per approval. E2: an approved call runs at most
 * once. So all bridges and commands of the user share these claims.
 */
import type { BridgeDatabase } from './database.ts';

/** A call, and the code of its shown content. If the agent asks again with other content, the code is another one. */
export interface CallAndCode {
  /** The URL of the agent. Its name is not used, because each configuration file may use another name. */
  agent: string;
  taskId: string;
  callId: string;
  shown: string;
}

export interface DecisionClaim {
  messageId: string;
  /** True while the process that made the claim runs. Only that process knows whether the decision has arrived. */
  running: boolean;
}

/**
 * How long a claim is kept at least, in milliseconds. An agent that needs claims loses its tasks when it restarts,
 * which happens much earlier. So an older claim protects no call.
 */
const KEPT_MS = 30 * 24 * 60 * 60_000;
/**
 * Old claims are deleted only if there are more claims than this. So a clock that has jumped ahead deletes no claim of a
 * call that still waits.
 */
const MAX_UNPRUNED_CLAIMS = 10_000;

export const SAME_CALL = 'agent = ? AND task_id = ? AND call_id = ? AND shown = ?';

export class DecisionClaims {
  readonly #database: BridgeDatabase;

  constructor(database: BridgeDatabase) {
    this.#database = database;
    const [[count] = []] = database.rows('SELECT count(*) FROM decision_claims');
    if (Number(count) > MAX_UNPRUNED_CLAIMS) database.forget('decision_claims', KEPT_MS);
  }

  /**
   * Claims the call for a message. A message that is sent again already has its claim.
   * @param past the ids of messages whose process has ended and whose delivery has certainly failed
   * @returns the claim of another message, if there is one
   * @throws ProductError STORAGE if the database cannot be used. The message must not be sent then.
   */
  async take(
    asking: CallAndCode,
    messageId: string,
    past: ReadonlySet<string>,
  ): Promise<DecisionClaim | undefined> {
    const key = keyOf(asking);
    const found = this.#database.transaction(() => this.#insertedOr(key, messageId));
    if (found === undefined || found.messageId === messageId) return undefined;
    const running = (await this.#database.ended([found.owner])).length === 0;
    if (running || !past.has(found.messageId)) return { messageId: found.messageId, running };
    // If several processes try to replace the claim of an ended process, only one succeeds.
    const taken = this.#database.run(
      `UPDATE decision_claims SET message_id = ?, owner = ?, at = ? WHERE ${SAME_CALL} AND message_id = ?`,
      messageId,
      this.#database.owner,
      Date.now(),
      ...key,
      found.messageId,
    );
    return taken === 1 ? undefined : this.take(asking, messageId, past);
  }

  /** Deletes the claim of a message that has failed. Another message may then decide the call. */
  release(asking: CallAndCode, messageId: string): void {
    this.#database.run(
      `DELETE FROM decision_claims WHERE ${SAME_CALL} AND message_id = ? AND owner = ?`,
      ...keyOf(asking),
      messageId,
      this.#database.owner,
    );
  }

  #insertedOr(key: readonly string[], messageId: string): { messageId: string; owner: string } | undefined {
    const [row] = this.#database.rows(
      `SELECT message_id, owner FROM decision_claims WHERE ${SAME_CALL}`,
      ...key,
    );
    if (row !== undefined) return { messageId: String(row[0]), owner: String(row[1]) };
    this.#database.run(
      'INSERT INTO decision_claims (agent, task_id, call_id, shown, message_id, owner, at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      ...key,
      messageId,
      this.#database.owner,
      Date.now(),
    );
    return undefined;
  }
}

export const keyOf = ({ agent, taskId, callId, shown }: CallAndCode): readonly string[] => [
  agent,
  taskId,
  callId,
  shown,
];

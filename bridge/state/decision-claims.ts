/**
 * Which message decides a call, for agents that run a call once for each approval of it (hazard 2 of gemini-cli's). Every
 * bridge and command of the user sees the claims (E2).
 */
import type { BridgeDatabase } from './database.ts';

/** One question about one call, by the code of what was shown: a call that is asked again with something else is another question. */
export interface Asking {
  /** Its URL: names are the settings' own. */
  agent: string;
  taskId: string;
  callId: string;
  shown: string;
}

export interface Claim {
  /** The message that carries the decision. */
  messageId: string;
  /** The process that made the claim still runs, and knows what became of the message. */
  running: boolean;
}

/** In milliseconds. Such an agent forgets its tasks when it is started anew, long before. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

const OF = 'agent = ? AND task_id = ? AND call_id = ? AND shown = ?';

export interface DecisionClaims {
  /**
   * Claims the question for a message. A message that is sent again has its claim already.
   * @param past messages that are known to have come to nothing, whose senders have ended
   * @returns the claim that stands in the way
   * @throws ProductError STORAGE when the claim can be neither made nor read: nothing may be sent then
   */
  take(asking: Asking, messageId: string, past: ReadonlySet<string>): Promise<Claim | undefined>;
  /** The message came to nothing: another may decide. */
  release(asking: Asking, messageId: string): void;
}

export class StoredClaims implements DecisionClaims {
  readonly #database: BridgeDatabase;

  constructor(database: BridgeDatabase) {
    this.#database = database;
    database.forget('decision_claims', KEPT_MS);
  }

  async take(asking: Asking, messageId: string, past: ReadonlySet<string>): Promise<Claim | undefined> {
    const key = keyOf(asking);
    const found = this.#database.transaction(() => this.#insertedOr(key, messageId));
    if (found === undefined || found.messageId === messageId) return undefined;
    const running = (await this.#database.ended([found.owner])).length === 0;
    if (running || !past.has(found.messageId)) return { messageId: found.messageId, running };
    // Of those who pass over the same dead claim, one replaces it.
    const taken = this.#database.run(
      `UPDATE decision_claims SET message_id = ?, owner = ?, at = ? WHERE ${OF} AND message_id = ?`,
      messageId,
      this.#database.owner,
      Date.now(),
      ...key,
      found.messageId,
    );
    return taken === 1 ? undefined : this.take(asking, messageId, past);
  }

  release(asking: Asking, messageId: string): void {
    this.#database.run(
      `DELETE FROM decision_claims WHERE ${OF} AND message_id = ? AND owner = ?`,
      ...keyOf(asking),
      messageId,
      this.#database.owner,
    );
  }

  #insertedOr(key: readonly string[], messageId: string): { messageId: string; owner: string } | undefined {
    const [row] = this.#database.rows(`SELECT message_id, owner FROM decision_claims WHERE ${OF}`, ...key);
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

const keyOf = ({ agent, taskId, callId, shown }: Asking): readonly string[] => [agent, taskId, callId, shown];

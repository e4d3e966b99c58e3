/**
 * Records the posts to the webhook, for all bridges of the user. One bridge posts each pending action. If that bridge
 * is killed, its row stays. The next bridge then posts again with the same `webhook-id`.
 */
import { z } from 'zod';
import type { BridgeDatabase } from './database.ts';
import { keyOf, SAME_CALL } from './decision-claims.ts';

const post = z.object({
  agent: z.string(),
  sessionId: z.string(),
  taskId: z.string(),
  callId: z.string(),
  shown: z.string(),
  /**
   * The state of the post. `asking`: a bridge is posting. `asked`: the receiver has accepted the post. `over`: the
   * action no longer waits.
   */
  state: z.enum(['asking', 'asked', 'over']),
  owner: z.string(),
});
type Post = z.infer<typeof post>;
export type WebhookPostState = Post['state'];
export type WebhookAction = Omit<Post, 'state' | 'owner'>;

/** How long a row is kept, in milliseconds. No action waits longer. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

export class WebhookPosts {
  readonly #database: BridgeDatabase;
  /** The keys of unfinished posts that this bridge has taken over and not sent yet. */
  readonly #unsent = new Set<string>();

  constructor(database: BridgeDatabase) {
    this.#database = database;
    database.forget('webhook_posts', KEPT_MS);
  }

  /**
   * Reserves the post of an action for this bridge.
   * @returns true if this bridge must post the action: no other bridge has reserved the post, or the other bridge has
   * ended before it had posted
   */
  async take(about: WebhookAction): Promise<boolean> {
    if (this.#insert(about)) return true;
    const key = keyOf(about);
    if (this.#unsent.delete(JSON.stringify(key))) return true;
    const [row] = this.#database.rows(`SELECT state, owner FROM webhook_posts WHERE ${SAME_CALL}`, ...key);
    const owner = String(row?.[1]);
    if (row?.[0] !== 'asking' || (await this.#database.ended([owner])).length === 0) return false;
    return this.#claim({ ...about, state: 'asking', owner });
  }

  set(about: WebhookAction, state: WebhookPostState): void {
    this.#database.run(
      `UPDATE webhook_posts SET state = ?, owner = ?, at = ? WHERE ${SAME_CALL}`,
      state,
      this.#database.owner,
      Date.now(),
      ...keyOf(about),
    );
  }

  /**
   * Takes over the unfinished posts of bridges that have ended. Each post is taken over by one bridge only.
   * @param agents the names of this bridge's agents. Posts about other agents are left to other bridges.
   */
  async takeOver(
    agents: readonly string[],
  ): Promise<readonly (WebhookAction & { state: WebhookPostState })[]> {
    const rows = this.#database.rows(
      `SELECT agent, session_id, task_id, call_id, shown, state, owner FROM webhook_posts
         WHERE state <> 'over' AND owner <> ?`,
      this.#database.owner,
    );
    const left = rows
      .map(([agent, sessionId, taskId, callId, shown, state, owner]) =>
        post.parse({ agent, sessionId, taskId, callId, shown, state, owner }),
      )
      .filter(({ agent }) => agents.includes(agent));
    const ended = new Set(await this.#database.ended([...new Set(left.map(({ owner }) => owner))]));
    const taken = left.filter((each) => ended.has(each.owner) && this.#claim(each));
    for (const each of taken) if (each.state === 'asking') this.#unsent.add(JSON.stringify(keyOf(each)));
    return taken;
  }

  /** Allows another bridge to take over this post. */
  release(about: WebhookAction): void {
    const key = keyOf(about);
    this.#unsent.delete(JSON.stringify(key));
    this.#database.run(
      `UPDATE webhook_posts SET owner = '' WHERE ${SAME_CALL} AND owner = ?`,
      ...key,
      this.#database.owner,
    );
  }

  /** Makes this bridge the owner of the post. Returns false if another bridge was faster. */
  #claim(found: Post): boolean {
    const changed = this.#database.run(
      `UPDATE webhook_posts SET owner = ?, at = ? WHERE ${SAME_CALL} AND owner = ? AND state = ?`,
      this.#database.owner,
      Date.now(),
      ...keyOf(found),
      found.owner,
      found.state,
    );
    return changed === 1;
  }

  #insert(about: WebhookAction): boolean {
    const { agent, sessionId, taskId, callId, shown } = about;
    const inserted = this.#database.run(
      `INSERT INTO webhook_posts (agent, session_id, task_id, call_id, shown, state, owner, at)
         VALUES (?, ?, ?, ?, ?, 'asking', ?, ?) ON CONFLICT DO NOTHING`,
      agent,
      sessionId,
      taskId,
      callId,
      shown,
      this.#database.owner,
      Date.now(),
    );
    return inserted === 1;
  }
}

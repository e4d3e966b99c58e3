/**
 * The webhook's posts, shared by all bridges of the user: one bridge posts each pending action. A bridge killed while
 * it posts leaves its row. The next bridge posts again, with the same `webhook-id`.
 */
import { z } from 'zod';
import type { BridgeDatabase } from './database.ts';

const post = z.object({
  agent: z.string(),
  sessionId: z.string(),
  taskId: z.string(),
  callId: z.string(),
  shown: z.string(),
  /** `asking`: a bridge posts it; `asked`: the receiver has it; `over`: the action no longer waits. */
  state: z.enum(['asking', 'asked', 'over']),
  owner: z.string(),
});
type Post = z.infer<typeof post>;
export type PostState = Post['state'];
/** The posted action. */
export type PostedAction = Omit<Post, 'state' | 'owner'>;

/** In milliseconds. No action waits that long. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

const OF = 'agent = ? AND task_id = ? AND call_id = ? AND shown = ?';

export class WebhookPosts {
  readonly #database: BridgeDatabase;

  constructor(database: BridgeDatabase) {
    this.#database = database;
    database.forget('webhook_posts', KEPT_MS);
  }

  /** @returns whether this bridge posts the action: it is the first, or the earlier bridge ended before it was done */
  async take(about: PostedAction): Promise<boolean> {
    if (this.#insert(about)) return true;
    const key = keyOf(about);
    const [row] = this.#database.rows(`SELECT state, owner FROM webhook_posts WHERE ${OF}`, ...key);
    const owner = String(row?.[1]);
    if (row?.[0] !== 'asking' || (await this.#database.ended([owner])).length === 0) return false;
    const taken = this.#database.run(
      `UPDATE webhook_posts SET owner = ?, at = ? WHERE ${OF} AND owner = ? AND state = 'asking'`,
      this.#database.owner,
      Date.now(),
      ...key,
      owner,
    );
    return taken === 1;
  }

  set(about: PostedAction, state: PostState): void {
    this.#database.run(
      `UPDATE webhook_posts SET state = ?, owner = ?, at = ? WHERE ${OF}`,
      state,
      this.#database.owner,
      Date.now(),
      ...keyOf(about),
    );
  }

  /**
   * The unfinished posts of ended bridges. This bridge becomes the owner of the posts that the receiver already has.
   */
  async takeOver(): Promise<readonly (PostedAction & { state: PostState })[]> {
    const rows = this.#database.rows(
      `SELECT agent, session_id, task_id, call_id, shown, state, owner FROM webhook_posts
         WHERE state <> 'over' AND owner <> ?`,
      this.#database.owner,
    );
    const left = rows.map(([agent, sessionId, taskId, callId, shown, state, owner]) =>
      post.parse({ agent, sessionId, taskId, callId, shown, state, owner }),
    );
    const ended = new Set(await this.#database.ended([...new Set(left.map(({ owner }) => owner))]));
    const taken = left.filter(({ owner }) => ended.has(owner));
    for (const each of taken) if (each.state === 'asked') this.set(each, 'asked');
    return taken;
  }

  #insert(about: PostedAction): boolean {
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

const keyOf = ({ agent, taskId, callId, shown }: PostedAction): readonly string[] => [
  agent,
  taskId,
  callId,
  shown,
];

/**
 * The sessions whose MCP task this client already follows. Claude Code makes a notification of each task it is handed, also of
 * one that it has: a call that waits for such a session must not return the task again.
 */
import type { Session } from './session.ts';

/** A client that follows a task asks for it more often than that, in milliseconds; after this it may have let go of it. */
const LETS_GO_MS = 30_000;

export class FollowedTasks {
  readonly #lastAsked = new WeakMap<Session, number>();
  readonly #now: () => number;

  /** @param now a monotonic clock, in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** The client is handed the session's task, or asks for it. */
  follows(session: Session): void {
    this.#lastAsked.set(session, this.#now());
  }

  isFollowed(session: Session): boolean {
    const last = this.#lastAsked.get(session);
    return last !== undefined && this.#now() - last < LETS_GO_MS;
  }

  /** What the client was told is over: the session's next task is another one. */
  ended(session: Session): void {
    this.#lastAsked.delete(session);
  }
}

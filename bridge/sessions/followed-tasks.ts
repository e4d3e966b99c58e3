/**
 * Records the sessions whose MCP task this client follows. Claude Code shows a notification for each task that a call
 * returns, even for a task that it already has. So a later call must not return the task again.
 */
import type { Session } from './session.ts';

/**
 * The time without a poll after which a client may have stopped, in milliseconds. A client that follows a task polls
 * more often.
 */
const POLL_EXPIRES_MS = 30_000;

export class FollowedTasks {
  readonly #lastAsked = new WeakMap<Session, number>();
  readonly #now: () => number;

  /** @param now a monotonic clock, in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Call this when the client gets the session's task or polls it. */
  follows(session: Session): void {
    this.#lastAsked.set(session, this.#now());
  }

  isFollowed(session: Session): boolean {
    const last = this.#lastAsked.get(session);
    return last !== undefined && this.#now() - last < POLL_EXPIRES_MS;
  }

  /** Call this when the client knows that the task has ended. The session's next task is another MCP task. */
  ended(session: Session): void {
    this.#lastAsked.delete(session);
  }
}

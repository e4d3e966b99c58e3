/**
 * Records the sessions whose MCP task this client polls. Claude Code shows a notification for each MCP task that a tool
 * call returns, even if it already follows that task. So a later tool call must not return the same task again.
 */
import type { Session } from './session/session.ts';

/**
 * The time without a poll, in milliseconds, after which the client has perhaps stopped following the task. A client
 * that follows a task polls more often.
 */
const POLL_EXPIRES_MS = 30_000;

export class ClientFollowedTasks {
  readonly #lastAsked = new WeakMap<Session, number>();

  /** Records that the client has received the session's MCP task, or polls it. */
  follows(session: Session): void {
    this.#lastAsked.set(session, performance.now());
  }

  isFollowed(session: Session): boolean {
    const last = this.#lastAsked.get(session);
    return last !== undefined && performance.now() - last < POLL_EXPIRES_MS;
  }

  /** Records that the client knows the end of the task. The session's next task is another MCP task. */
  ended(session: Session): void {
    this.#lastAsked.delete(session);
  }
}

/**
 * Records what one client already has from earlier results of each session. The records are lost when the bridge ends.
 * After a restart, or for another client, the first result of a session is complete again.
 */
import type { SeenResult } from '../reports/session-result.ts';

const MAX_SESSIONS = 100;

export class SeenResults {
  /** What the client has, by session id. The newest record is last. */
  readonly #seen = new Map<string, SeenResult>();

  of(sessionId: string): SeenResult | undefined {
    return this.#seen.get(sessionId);
  }

  /** Records what the client has. The caller must be certain that the client has received the result. */
  record(sessionId: string, seen: SeenResult): void {
    this.#seen.delete(sessionId);
    this.#seen.set(sessionId, seen);
    for (const oldest of [...this.#seen.keys()].slice(0, -MAX_SESSIONS)) this.#seen.delete(oldest);
  }
}

/**
 * Records which results of each session one client has. The records end with the bridge. After a restart, or for
 * another client, the first result of a session is complete again.
 */
import type { SeenResult } from '../reports/session-result.ts';

const KEPT = 100;

export class SeenResults {
  /** By session id, newest record last. */
  readonly #seen = new Map<string, SeenResult>();

  of(sessionId: string): SeenResult | undefined {
    return this.#seen.get(sessionId);
  }

  /** Call this only when the client certainly has the result. */
  record(sessionId: string, seen: SeenResult): void {
    this.#seen.delete(sessionId);
    this.#seen.set(sessionId, seen);
    for (const oldest of [...this.#seen.keys()].slice(0, -KEPT)) this.#seen.delete(oldest);
  }
}

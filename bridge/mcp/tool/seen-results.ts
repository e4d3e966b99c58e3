/**
 * Remembers which results of each session one client has. The memory ends with the bridge. After a restart, and for
 * another client, the first result of a session is complete.
 */
import type { SeenResult } from '../reports/session-result.ts';

/** The maximum number of remembered sessions. */
const KEPT = 100;

export class SeenResults {
  /** By session, in the order of recording: the newest is last. */
  readonly #seen = new Map<string, SeenResult>();

  of(sessionId: string): SeenResult | undefined {
    return this.#seen.get(sessionId);
  }

  /** Call this when the client surely has the result. */
  record(sessionId: string, seen: SeenResult): void {
    this.#seen.delete(sessionId);
    this.#seen.set(sessionId, seen);
    for (const oldest of [...this.#seen.keys()].slice(0, -KEPT)) this.#seen.delete(oldest);
  }
}

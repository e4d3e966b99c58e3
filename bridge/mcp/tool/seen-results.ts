/**
 * What one client has been told of each session. It is in memory alone: after a restart of the bridge, and for another
 * client, the first result of a session is whole.
 */
import type { SeenResult } from '../reports/session-result.ts';

/** How many sessions to remember. */
const KEPT = 100;

export class SeenResults {
  /** By session, the one recorded last at the end. */
  readonly #seen = new Map<string, SeenResult>();

  of(sessionId: string): SeenResult | undefined {
    return this.#seen.get(sessionId);
  }

  /** Call this once the client is known to have the result. */
  record(sessionId: string, seen: SeenResult): void {
    this.#seen.delete(sessionId);
    this.#seen.set(sessionId, seen);
    for (const oldest of [...this.#seen.keys()].slice(0, -KEPT)) this.#seen.delete(oldest);
  }
}

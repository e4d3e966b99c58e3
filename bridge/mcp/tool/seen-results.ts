/**
 * Records what one client already has from earlier results of each session. The records are lost when the bridge ends.
 * After a restart, or for another client, the first result of a session is complete again.
 */
import { setBounded } from '../../../shared/runtime/set-bounded.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { SeenResult } from '../reports/session-result.ts';

/** The id of a session, and its agent. Agents choose the ids, so two agents may use the same id. */
type SeenSession = Pick<Session, 'id'> & { agent: Pick<Session['agent'], 'name'> };

const MAX_SESSIONS = 100;

export class SeenResults {
  /** What the client has, by session. The newest record is last. */
  readonly #seen = new Map<string, SeenResult>();

  of(session: SeenSession): SeenResult | undefined {
    return this.#seen.get(keyOf(session));
  }

  /** Records what the client has. The caller must be certain that the client has received the result. */
  record(session: SeenSession, seen: SeenResult): void {
    setBounded(this.#seen, keyOf(session), seen, MAX_SESSIONS);
  }
}

function keyOf({ id, agent }: SeenSession): string {
  return JSON.stringify([agent.name, id]);
}

/**
 * Reads this bridge's inbox again after each change. Passes it to the surfaces outside of the MCP client: the files for
 * hooks, and the desktop notifications.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../shared/runtime/logging.ts';
import { type ListedSession, listedLiveSession } from '../sessions/list-sessions.ts';
import type { Session } from '../sessions/session/session.ts';
import type { LiveSessions } from '../sessions/live-sessions.ts';
import type { BridgeDatabase } from '../state/database.ts';
import type { UncollectedTask, WaitingResults } from '../state/waiting-results.ts';
import { watchDatabase } from './watch-database.ts';

/** The maximum number of tasks that are followed at the same time. Each of them has one stream. */
const MAX_FOLLOWED_TASKS = 50;

/** The delegations whose result no client has collected, and the sessions that this bridge follows. */
export interface InboxSources {
  tasks: readonly UncollectedTask[];
  sessions: readonly ListedSession[];
}

export interface InboxSurface {
  /** False while the surface shows nothing. The inbox is then not read for this surface. */
  readonly wanted: boolean;
  show(reading: InboxSources): Promise<void> | void;
  /** Called when the bridge ends. A call of `show` may still be running then. */
  close?(): void;
}

interface FollowerParts {
  surfaces: readonly InboxSurface[];
  stateDirectory: string;
  database: BridgeDatabase;
  results: WaitingResults;
  live: LiveSessions;
  log: Logger;
}

export class InboxFollower {
  readonly #parts: FollowerParts;
  readonly #followed = new Map<Session, () => void>();
  #reading: Promise<void> | undefined;
  #changed = false;
  #closed = false;
  #stopWatching: (() => void) | undefined;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    parts.live.onAdded((session) => this.#listen(session));
    parts.live.onRemoved((session) => this.#unfollow(session));
    this.#refresh();
  }

  /** True if at least one surface shows the inbox. */
  get wanted(): boolean {
    return this.#parts.surfaces.some(({ wanted }) => wanted);
  }

  close(): void {
    this.#closed = true;
    this.#stopWatching?.();
    for (const stop of this.#followed.values()) stop();
    for (const surface of this.#parts.surfaces) surface.close?.();
  }

  /** Reads the inbox again. Several calls at the same time cause only one or two readings. */
  #refresh(): void {
    if (this.#closed) return;
    this.#changed = true;
    if (this.#reading !== undefined) return;
    this.#reading = this.#updateUntilCurrent()
      .catch((error: unknown) =>
        this.#parts.log.warn(
          { err: error },
          'desktop notifications or hook files could not be updated from the inbox',
        ),
      )
      .finally(() => (this.#reading = undefined));
  }

  #listen(session: Session): void {
    session.listen(({ type }) => {
      if (type === 'state' || type === 'handed-over') this.#refresh();
    });
    this.#refresh();
  }

  async #updateUntilCurrent(): Promise<void> {
    while (this.#changed && !this.#closed) {
      // The reading starts in the next turn of the event loop. Otherwise its disk access could delay the reply to a
      // tool call.
      await nextTurn();
      this.#changed = false;
      if (this.#closed || !this.wanted) return;
      this.#stopWatching ??= this.#watchDatabase();
      await this.#updateSurfaces();
    }
  }

  async #updateSurfaces(): Promise<void> {
    const { results, live, surfaces } = this.#parts;
    for (const session of live.all) this.#follow(session);
    const sessions = live.all.map(listedLiveSession);
    const reading = { sessions, tasks: await results.uncollected() };
    for (const surface of surfaces) if (surface.wanted) await surface.show(reading);
  }

  /** Starts to follow the session's task. A task that waits is followed too, because a person may decide elsewhere. */
  #follow(session: Session): void {
    if (session.over) this.#unfollow(session);
    else if (!this.#followed.has(session) && this.#followed.size < MAX_FOLLOWED_TASKS)
      this.#followed.set(session, session.watch());
  }

  #unfollow(session: Session): void {
    this.#followed.get(session)?.();
    this.#followed.delete(session);
  }

  /** Watches the database, because other processes collect results too. */
  #watchDatabase(): () => void {
    const { database, stateDirectory, log } = this.#parts;
    return watchDatabase({
      stateDirectory,
      version: () => database.changes(),
      onChange: () => this.#refresh(),
      onError: (error) => log.warn({ err: error }, "changes of the bridge's database cannot be watched"),
    });
  }
}

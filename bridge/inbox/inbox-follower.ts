/**
 * Reads this bridge's inbox again after each change, and passes it to the surfaces outside of the MCP client: the files
 * for hooks, and the notifications of the desktop.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../shared/runtime/logging.ts';
import { watchDirectory } from '../local-server/watch-directory.ts';
import { type ListedSession, listedSession } from '../sessions/list-sessions.ts';
import type { Session } from '../sessions/session.ts';
import type { LiveSessions } from '../sessions/sessions-in-memory.ts';
import type { BridgeDatabase } from '../state/database.ts';
import type { UncollectedTask, WaitingResults } from '../state/waiting-results.ts';

/** The maximum number of tasks that are followed at once. Each has one stream. */
const FOLLOWED = 50;
/** The shortest time between two looks at the database, in milliseconds. */
const LOOK_MS = 100;

/** The delegations whose result no client has confirmed, and the sessions that this bridge follows. */
export interface InboxReading {
  tasks: readonly UncollectedTask[];
  sessions: readonly ListedSession[];
}

export interface InboxSurface {
  /** False while the surface shows nothing. The inbox is then not read for it. */
  readonly wanted: boolean;
  show(reading: InboxReading): Promise<void> | void;
  /** Called when the bridge ends. A `show` may still run. */
  close(): void;
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
    for (const surface of this.#parts.surfaces) surface.close();
  }

  /** Reads again if something has changed. Several calls at once cause one or two readings. */
  #refresh(): void {
    if (this.#closed) return;
    this.#changed = true;
    if (this.#reading !== undefined) return;
    this.#reading = this.#readAll()
      .catch((error: unknown) =>
        this.#parts.log.warn({ err: error }, 'the inbox could not be shown outside of the client'),
      )
      .finally(() => (this.#reading = undefined));
  }

  #listen(session: Session): void {
    session.listen(({ type }) => {
      if (type === 'state' || type === 'handed-over') this.#refresh();
    });
    this.#refresh();
  }

  async #readAll(): Promise<void> {
    while (this.#changed && !this.#closed) {
      // A look at the disk must not delay the reply to a call that has noticed the change.
      await nextTurn();
      this.#changed = false;
      if (this.#closed || !this.wanted) return;
      this.#stopWatching ??= this.#watchDatabase();
      await this.#readOnce();
    }
  }

  async #readOnce(): Promise<void> {
    const { results, live, surfaces } = this.#parts;
    for (const session of live.all) this.#follow(session);
    const sessions = live.all.map(listedSession);
    const reading = { sessions, tasks: await results.uncollected() };
    for (const surface of surfaces) if (surface.wanted) await surface.show(reading);
  }

  /** Follows a task also while it waits, because a person may decide elsewhere. */
  #follow(session: Session): void {
    if (session.over) this.#unfollow(session);
    else if (!this.#followed.has(session) && this.#followed.size < FOLLOWED)
      this.#followed.set(session, session.watch());
  }

  #unfollow(session: Session): void {
    this.#followed.get(session)?.();
    this.#followed.delete(session);
  }

  /** Looks for writes of this and other processes, which collect results too. */
  #watchDatabase(): () => void {
    const { database, stateDirectory, log } = this.#parts;
    let version: unknown;
    let timer: NodeJS.Timeout | undefined;
    const look = (): void => {
      timer = undefined;
      if (this.#closed) return;
      try {
        const now = database.changes();
        if (now === version) return;
        version = now;
        this.#refresh();
      } catch (error) {
        log.warn({ err: error }, "changes of the bridge's database could not be seen");
      }
    };
    // The journal of the local server is in this directory too, and changes often.
    return watchDirectory(stateDirectory, () => (timer ??= setTimeout(look, LOOK_MS).unref()));
  }
}

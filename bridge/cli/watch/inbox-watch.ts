/**
 * Waits for new entries of the inbox. It follows the tasks that the agents list. It reads the inbox again when a
 * followed task waits, goes on or ends, and when another process writes to the bridge's database.
 */
import { inboxEntries, type KeyedInboxEntry } from '../../inbox/inbox-entry.ts';
import { watchDatabase } from '../../inbox/watch-database.ts';
import type { ListedSession, SessionListing } from '../../sessions/list-sessions.ts';
import { isNonTerminal } from '../../../shared/protocol/task-states.ts';
import type { SessionStateName } from '../../dialects/observation.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { CommandSessions } from '../context/command-sessions.ts';

/** The maximum number of tasks that are followed, newest first. Each of them has one stream. */
const MAX_FOLLOWED_TASKS = 50;

interface InboxReading extends Pick<SessionListing, 'sessions' | 'unreachable'> {
  entries: readonly KeyedInboxEntry[];
}

/** Reads the inbox from the agents and from the bridge's database. Changes neither. @throws ProductError STORAGE */
export async function readInbox({ sessions, results }: CommandSessions): Promise<InboxReading> {
  const { sessions: listed, unreachable } = await sessions.list();
  return { entries: inboxEntries(listed, await results.uncollected()), sessions: listed, unreachable };
}

export class NewInboxEntries {
  readonly #context: CommandSessions;
  readonly #followed = new WeakSet<Session>();
  #seen: ReadonlySet<string>;
  #changed = false;
  #wake: (() => void) | undefined;

  /** @param entries the entries that were already printed */
  constructor(context: CommandSessions, stateDirectory: string, entries: readonly KeyedInboxEntry[]) {
    this.#context = context;
    this.#seen = new Set(entries.map(({ key }) => key));
    // The first call of `next` reads the inbox, because the caller may have missed a write since its own reading.
    this.#changed = true;
    watchDatabase({
      stateDirectory,
      version: () => context.database.version(),
      onChange: () => this.#recordChange(),
      // The error is not used here, because the next reading of the inbox throws it.
      onError: () => this.#recordChange(),
    });
  }

  /** Waits until the inbox has new entries, and returns them. @throws ProductError STORAGE */
  async next(): Promise<readonly KeyedInboxEntry[]> {
    for (;;) {
      await this.#waitForChange();
      const { entries, sessions, unreachable } = await readInbox(this.#context);
      this.follow(sessions);
      const added = entries.filter(({ key }) => !this.#seen.has(key));
      const keys = entries.map(({ key }) => key);
      // If an agent was unreachable, its entries are missing, and appear again later. They must not count as new then.
      this.#seen = new Set(unreachable.length === 0 ? keys : [...this.#seen, ...keys]);
      if (added.length > 0) return added;
    }
  }

  /** Follows the tasks that run or wait. A change of their state causes a new reading of the inbox. */
  follow(sessions: readonly ListedSession[]): void {
    const going = sessions.filter(({ taskId, state }) => taskId !== null && isNonTerminal(state));
    for (const { sessionId, agent, state } of going.slice(0, MAX_FOLLOWED_TASKS)) {
      this.#context.sessions
        .find(sessionId, { agent })
        .then((session) => this.#followOne(session, state))
        // An error is ignored. The agent may be unreachable for a moment, and the next reading tries again.
        .catch(() => undefined);
    }
  }

  #followOne(session: Session, listedState: SessionStateName): void {
    if (this.#followed.has(session)) return;
    this.#followed.add(session);
    session.watch();
    let settled = session.settled;
    session.listen(({ type }) => {
      if (type !== 'state') return;
      if (session.settled || settled) this.#recordChange();
      settled = session.settled;
    });
    // The task may have changed since the agent listed it.
    if (session.stateName !== listedState) this.#recordChange();
  }

  #recordChange(): void {
    this.#changed = true;
    this.#wake?.();
  }

  async #waitForChange(): Promise<void> {
    if (!this.#changed)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    this.#wake = undefined;
    this.#changed = false;
  }
}

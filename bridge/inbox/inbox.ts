/**
 * The result inbox (R68): what ended while nobody looked is announced with the next answer, whatever it is about, and
 * stays until it is collected.
 *
 * Invariants
 * - A result is announced once by each bridge: once too often to one who works with two is better than never.
 * - What is on disk is what waits: a bridge that is killed at any point leaves an entry in the outbox, a result here, or
 *   both, and the next bridge announces it (B3).
 * - Looking never delays an answer by more than a moment, whatever state the agents are in.
 */
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logging.ts';
import type { Registry } from '../agents/registry.ts';
import { within } from '../agents/within.ts';
import type { OutboxEntry } from '../outbox/entry.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { toMcpState } from '../sessions/mcp-state.ts';
import { titleOf } from '../results/title.ts';
import type { Delegations } from '../sessions/delegations.ts';
import type { Session } from '../sessions/session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { hasEnded } from '../sessions/view.ts';
import { type InboxDirectory, keyOf, type ResultKey } from './inbox-directory.ts';
import { type Announcement, announcementOf } from './waiting-result.ts';

/** How long an answer that is ready waits for a look that began with its call. */
const PATIENCE_MS = 1_000;
/** Tasks looked at, the newest: a person who left more behind finds the others in the list. */
const LOOKED_AT = 50;

type Accepted = OutboxEntry & { state: { type: 'accepted' } };
const isAccepted = (entry: OutboxEntry): entry is Accepted => entry.state.type === 'accepted';

export interface InboxParts {
  directory: InboxDirectory;
  registry: Registry;
  outbox: Outbox;
  sessions: Sessions;
  delegations: Delegations;
  log: Logger;
}

export class Inbox {
  readonly #parts: InboxParts;
  readonly #told = new Set<ResultKey>();
  /** Handed over here: what is on disk of them is about to go. */
  readonly #collected = new Set<ResultKey>();
  /** Sessions whose task was seen to have ended. */
  readonly #ended = new WeakSet<Session>();
  #looking: Promise<void> | undefined;

  constructor(parts: InboxParts) {
    this.#parts = parts;
    parts.sessions.onAdded((session) => this.#watch(session));
    parts.delegations.stopAnnouncing = (session) => this.#stopAnnouncing(session);
  }

  /**
   * Takes up what bridges that have ended left, and looks after what stands still and may have been decided elsewhere.
   * Beside the call it begins with: whoever answers that call may wait for it a moment.
   */
  look(): Promise<void> {
    // A look that an agent holds up is not waited for by the calls that come after.
    if (this.#looking !== undefined) return Promise.resolve();
    this.#looking = this.#look()
      .catch((error: unknown) =>
        this.#parts.log.warn({ err: error }, 'the inbox could not be looked through'),
      )
      .finally(() => (this.#looking = undefined));
    return within(PATIENCE_MS, this.#looking).catch(() => undefined);
  }

  /** What this bridge has not announced yet. It counts as announced from here on. */
  async take(): Promise<Announcement> {
    const { directory, registry, log } = this.#parts;
    try {
      const keys = (await directory.keys()).filter(
        (key) => !this.#told.has(key) && !this.#collected.has(key),
      );
      const results = await directory.read(keys);
      for (const key of keys) this.#told.add(key);
      // Of an agent that is not configured any more nothing can be collected.
      return announcementOf(results.filter(({ agent }) => registry.find(agent) !== undefined));
    } catch (error) {
      log.warn({ err: error }, 'the inbox could not be read');
      return announcementOf([]);
    }
  }

  #watch(session: Session): void {
    session.listen((change) => {
      if (change.type === 'view') this.#noticed(session);
    });
    this.#noticed(session);
  }

  #noticed(session: Session): void {
    const { view, agent } = session;
    if (view === undefined || view.taskId === '') return;
    if (!hasEnded(view)) {
      // With some agents a session goes on in the same task: the end of its next turn is a result of its own.
      if (this.#ended.delete(session)) this.#forget(keyOf({ agent: agent.name, taskId: view.taskId }));
      return;
    }
    this.#ended.add(session);
    // Whoever waits for it is answered first: what they are handed is not announced.
    setImmediate(() => {
      this.#keep(session).catch((error: unknown) =>
        this.#parts.log.warn(
          { sessionId: session.id, err: error },
          'a result could not be put into the inbox',
        ),
      );
    });
  }

  #forget(key: ResultKey): void {
    this.#collected.delete(key);
    this.#told.delete(key);
  }

  async #keep(session: Session): Promise<void> {
    const { directory, delegations, outbox } = this.#parts;
    const { view, agent } = session;
    if (view === undefined || !hasEnded(view)) return;
    const { taskId, sessionId, state } = view;
    const key = keyOf({ agent: agent.name, taskId });
    if (this.#collected.has(key)) return;
    await delegations.settled();
    // What nobody delegated from here, or has collected, is nobody's news.
    const entry = (await outbox.open()).find((each) => isOf(each, agent.name, taskId));
    if (entry === undefined || this.#collected.has(key)) return;
    const title = titleOf(entry.text);
    await directory.put({ sessionId, taskId, agent: agent.name, state: toMcpState(state), title });
    if (this.#collected.has(key)) await directory.remove(key);
  }

  /** This bridge does not announce it again. @returns how to remove it, and the earlier results of its session, from disk */
  #stopAnnouncing({ view, agent }: Session): () => Promise<void> {
    if (view === undefined) return () => Promise.resolve();
    const { taskId, sessionId } = view;
    this.#collected.add(keyOf({ agent: agent.name, taskId }));
    return () => this.#remove(agent.name, taskId, sessionId);
  }

  async #remove(agent: string, taskId: string, sessionId: string): Promise<void> {
    const { directory, outbox } = this.#parts;
    await directory.remove(keyOf({ agent, taskId }));
    for (const result of await directory.read(await directory.keys())) {
      if (result.agent !== agent || result.sessionId !== sessionId) continue;
      await directory.remove(keyOf(result));
      await outbox.collect(result.taskId, 'unknown');
    }
  }

  async #look(): Promise<void> {
    const { delegations, outbox, directory } = this.#parts;
    await delegations.adopt();
    const waiting = new Set(await directory.keys());
    const open = (await outbox.mine()).filter(isAccepted);
    const byAgent = new Map<string, Accepted[]>();
    for (const entry of newestOfEachTask(open).slice(0, LOOKED_AT)) {
      const key = keyOf({ agent: entry.agent, taskId: entry.state.taskId });
      if (waiting.has(key) || this.#collected.has(key)) continue;
      byAgent.set(entry.agent, [...(byAgent.get(entry.agent) ?? []), entry]);
    }
    await Promise.all([...byAgent].map(([agent, entries]) => this.#lookAt(agent, entries)));
  }

  /** One after the other: an agent that is away is asked once. */
  async #lookAt(agent: string, entries: readonly Accepted[]): Promise<void> {
    const { registry, sessions, outbox, log } = this.#parts;
    if (registry.find(agent) === undefined) return;
    try {
      for (const { state } of entries) {
        const here = sessions.here(state.taskId);
        await here?.refresh();
        const session = here ?? (await sessions.find(state.taskId));
        await this.#keep(session);
        // The session has been gone on with: its newest task is the one whose result counts.
        if (session.view !== undefined && session.view.taskId !== state.taskId)
          await outbox.collect(state.taskId, 'unknown');
      }
    } catch (error) {
      log.debug({ agent, problem: messageOf(error) }, 'what an agent still does is not known at the moment');
    }
  }
}

function isOf(entry: OutboxEntry, agent: string, taskId: string): boolean {
  return entry.agent === agent && entry.state.type === 'accepted' && entry.state.taskId === taskId;
}

function newestOfEachTask(entries: readonly Accepted[]): readonly Accepted[] {
  const byTask = new Map(entries.map((entry) => [`${entry.agent} ${entry.state.taskId}`, entry]));
  return [...byTask.values()].toReversed();
}

/**
 * The result inbox (R68). If a task ends while no client waits for it, the bridge's next reply announces the result.
 * The result stays until a client collects it.
 *
 * Invariants
 * - Each bridge announces a result once. A user with two bridges may see a result twice, but never misses it.
 * - All waiting results are on disk. A bridge may be killed at any point. It then leaves an outbox entry or a stored
 *   result, which the next bridge announces (B3).
 * - The check for new results delays a reply only briefly, even if an agent does not respond.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Registry } from '../agents/registry.ts';
import { withTimeout } from '../agents/timeout.ts';
import type { DelegatedTask, Outbox } from '../state/outbox.ts';
import { resultKey, type ResultKey, type WaitingResults } from '../state/waiting-results.ts';
import type { DelegationService } from '../sessions/deliver-delegations.ts';
import type { LiveSessions } from '../sessions/sessions-in-memory.ts';
import type { Session } from '../sessions/session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { type Announcement, announcementOf } from './announcement.ts';

/**
 * The maximum time that a finished reply waits for the inbox check, in milliseconds. The check starts at the same time
 * as the call.
 */
const PATIENCE_MS = 1_000;
/**
 * The maximum number of tasks that one check covers, newest first. `list_all_active_sessions` shows the older tasks.
 */
const LOOKED_AT = 50;

interface InboxOptions {
  results: WaitingResults;
  registry: Registry;
  outbox: Outbox;
  live: LiveSessions;
  sessions: Sessions;
  delegations: DelegationService;
  log: Logger;
}

export class Inbox {
  readonly #parts: InboxOptions;
  readonly #told = new Set<ResultKey>();
  /** The keys of results that a client has collected through this bridge. The database may still contain them. */
  readonly #collected = new Set<ResultKey>();
  readonly #ended = new WeakSet<Session>();
  #looking: Promise<void> | undefined;

  constructor(parts: InboxOptions) {
    this.#parts = parts;
    parts.live.onAdded((session) => this.#watch(session));
  }

  /**
   * Checks for ended tasks. Adopts the delegations of ended bridges, and refreshes tasks that other clients may have
   * decided. The current call waits only briefly for this check.
   */
  look(): Promise<void> {
    // If a check is slow, later calls do not wait for it again.
    if (this.#looking !== undefined) return Promise.resolve();
    this.#looking = this.#look()
      .catch((error: unknown) => this.#parts.log.warn({ err: error }, 'the inbox could not be checked'))
      .finally(() => (this.#looking = undefined));
    return withTimeout(PATIENCE_MS, this.#looking).catch(() => undefined);
  }

  /** Returns the results that this bridge has not announced yet, and marks them as announced. */
  async take(): Promise<Announcement> {
    const { results, registry, log } = this.#parts;
    try {
      const waiting = (await results.waiting()).filter((result) => {
        const key = resultKey(result);
        return !this.#told.has(key) && !this.#collected.has(key);
      });
      for (const result of waiting) this.#told.add(resultKey(result));
      // A client cannot collect the results of an agent that is not configured. So the inbox does not announce them.
      return announcementOf(waiting.filter(({ agent }) => registry.find(agent) !== undefined));
    } catch (error) {
      log.warn({ err: error }, 'the inbox could not be read');
      return announcementOf([]);
    }
  }

  #watch(session: Session): void {
    session.listen((change) => {
      if (change.type === 'state') this.#noticed(session);
      if (change.type === 'handed-over')
        this.#collected.add(resultKey({ agent: session.agent.name, ...change.view }));
    });
    this.#noticed(session);
  }

  #noticed(session: Session): void {
    const { view, agent, over } = session;
    if (view === undefined || view.taskId === '') return;
    if (!over) {
      // Some agents continue a session in the same task. The end of the next turn is then a new result.
      if (this.#ended.delete(session)) this.#reopen(agent.name, view.taskId);
      return;
    }
    this.#ended.add(session);
    // Waiting calls get their replies first. The inbox does not announce a result that such a reply contains.
    setImmediate(() => {
      this.#keep(session).catch((error: unknown) =>
        this.#parts.log.warn(
          { sessionId: session.id, err: error },
          'a result could not be put into the inbox',
        ),
      );
    });
  }

  #reopen(agent: string, taskId: string): void {
    const key = resultKey({ agent, taskId });
    this.#collected.delete(key);
    this.#told.delete(key);
    this.#parts.results.reopen(agent, taskId).catch((error: unknown) => {
      this.#parts.log.warn({ err: error }, 'a result that is out of date stays in the inbox');
    });
  }

  async #keep(session: Session): Promise<void> {
    const { results, delegations } = this.#parts;
    const { view, agent, over } = session;
    if (view === undefined || !over) return;
    const { taskId, state } = view;
    if (this.#collected.has(resultKey({ agent: agent.name, taskId }))) return;
    // A delegation's row has its task id only after this promise resolves.
    await delegations.settled();
    if (!this.#collected.has(resultKey({ agent: agent.name, taskId })))
      await results.put(agent.name, taskId, state);
  }

  async #look(): Promise<void> {
    const { delegations, outbox } = this.#parts;
    // The current call sends its own requests first, so that the inbox does not repeat them.
    await nextTurn();
    await delegations.adopt();
    // The map removes duplicates, because several delegations may belong to one task.
    const going = new Map(outbox.going(LOOKED_AT).map((task) => [resultKey(task), task]));
    const byAgent = new Map<string, DelegatedTask[]>();
    for (const [key, task] of going) {
      if (this.#collected.has(key)) continue;
      byAgent.set(task.agent, [...(byAgent.get(task.agent) ?? []), task]);
    }
    await Promise.all([...byAgent].map(([agent, tasks]) => this.#lookAt(agent, tasks)));
  }

  /** Checks the tasks of one agent in sequence, so an unreachable agent gets only one request. */
  async #lookAt(agent: string, tasks: readonly DelegatedTask[]): Promise<void> {
    const { registry, live, sessions, outbox, log } = this.#parts;
    if (registry.find(agent) === undefined) return;
    // Every tool call runs this code. A search of all sessions for each task would be slow with many sessions.
    const streamed = new Set(
      live.all.flatMap(({ live: reads, over, agent: { name }, view }) =>
        reads && !over && view !== undefined ? [resultKey({ agent: name, taskId: view.taskId })] : [],
      ),
    );
    try {
      for (const { taskId } of tasks) {
        // The stream of a session reports the end of its task.
        if (streamed.has(resultKey({ agent, taskId }))) continue;
        const here = live.find(taskId, agent);
        await here?.refreshState();
        const session = here ?? (await sessions.find(taskId));
        await this.#keep(session);
        // If the session has a newer task, only that task's result counts. So this task is closed.
        if (session.view !== undefined && session.view.taskId !== taskId)
          outbox.collect({ agent, taskId }, 'unknown');
      }
    } catch (error) {
      log.debug({ agent, problem: messageOf(error) }, 'the state of an agent is unknown for now');
    }
  }
}

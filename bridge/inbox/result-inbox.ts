/**
 * The inbox of results. R68: if a task ends while no client waits for it, the bridge announces the result in its reply
 * to the next tool call. The result stays in the inbox until a client collects it.
 *
 * Invariants
 * - Each bridge announces a result once. A user with two bridges may see a result twice, but never misses one.
 * - B3: a killed bridge loses nothing. Everything that is needed to announce a result is on disk: an outbox entry or a
 *   stored result. The next bridge announces it.
 * - The check for new results delays the reply to a tool call only briefly, even if an agent does not respond.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Agent } from '../agents/agent.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import { withTimeout } from '../agents/timeout.ts';
import { acceptedHandle } from '../state/outbox-entry.ts';
import type { DelegatedTaskId, Outbox } from '../state/outbox.ts';
import { resultKey, type ResultKey, type WaitingResults } from '../state/waiting-results.ts';
import type { DelegationService } from '../sessions/deliver-delegations.ts';
import type { LiveSessions } from '../sessions/live-sessions.ts';
import { hasEnded, type TaskView, viewOfWholeTask } from '../sessions/session/observed-task.ts';
import type { Session } from '../sessions/session/session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { type AnnouncedResults, announcedResultsOf } from './format-announcement.ts';

/**
 * The maximum time in milliseconds for which the finished reply to a tool call waits for the check of the inbox. The
 * check starts at the same time as the tool call.
 */
const MAX_CHECK_MS = 1_000;
/** The maximum number of tasks in one check, newest first. `list_all_active_sessions` shows older tasks. */
const MAX_CHECKED_TASKS = 50;

interface InboxOptions {
  results: WaitingResults;
  registry: AgentRegistry;
  outbox: Outbox;
  live: LiveSessions;
  sessions: Sessions;
  delegations: DelegationService;
  log: Logger;
}

export class ResultInbox {
  readonly #parts: InboxOptions;
  readonly #told = new Set<ResultKey>();
  /** The keys of results that a client has collected through this bridge. They may still be in the database. */
  readonly #collected = new Set<ResultKey>();
  readonly #ended = new WeakSet<Session>();
  #looking: Promise<void> | undefined;

  constructor(parts: InboxOptions) {
    this.#parts = parts;
    parts.live.onAdded((session) => this.#watch(session));
  }

  /**
   * Checks which tasks have ended. It takes over the delegations of bridges that have ended, and asks the agents about
   * tasks that another client may have decided. The current tool call waits only briefly for this check.
   */
  refresh(): Promise<void> {
    // If a check is still running, later tool calls do not wait for it.
    if (this.#looking !== undefined) return Promise.resolve();
    this.#looking = this.#readTasks()
      .catch((error: unknown) => this.#parts.log.warn({ err: error }, 'the inbox could not be checked'))
      .finally(() => (this.#looking = undefined));
    return withTimeout(MAX_CHECK_MS, this.#looking).catch(() => undefined);
  }

  /** Returns the results that this bridge has not announced yet, and marks them as announced. */
  async take(): Promise<AnnouncedResults> {
    const { results, registry, log } = this.#parts;
    try {
      const waiting = (await results.waiting()).filter((result) => {
        const key = resultKey(result);
        return !this.#told.has(key) && !this.#collected.has(key);
      });
      for (const result of waiting) this.#told.add(resultKey(result));
      // Only results of configured agents are announced, because the client cannot collect others.
      return announcedResultsOf(waiting.filter(({ agent }) => registry.find(agent) !== undefined));
    } catch (error) {
      log.warn({ err: error }, 'the inbox could not be read');
      return announcedResultsOf([]);
    }
  }

  #watch(session: Session): void {
    session.listen((change) => {
      if (change.type === 'state') this.#handleEndedTask(session);
      if (change.type === 'handed-over')
        this.#collected.add(resultKey(delegatedTaskOf(session, change.view)));
    });
    this.#handleEndedTask(session);
  }

  #handleEndedTask(session: Session): void {
    const { view, over } = session;
    if (view === undefined) return;
    if (!over) {
      // Some agents continue a session in the same task, although the task had ended. Its next end is then a new
      // result.
      if (this.#ended.delete(session)) this.#reopen(delegatedTaskOf(session, view));
      return;
    }
    this.#ended.add(session);
    // Tool calls that wait get their replies first. A result in such a reply is not announced.
    setImmediate(() => {
      this.#storeResult(session).catch((error: unknown) =>
        this.#parts.log.warn(
          { sessionId: session.id, err: error },
          'a result could not be put into the inbox',
        ),
      );
    });
  }

  #reopen(task: DelegatedTaskId): void {
    const key = resultKey(task);
    this.#collected.delete(key);
    this.#told.delete(key);
    this.#parts.results.reopen(task).catch((error: unknown) => {
      this.#parts.log.warn({ err: error }, 'an outdated result could not be removed from the inbox');
    });
  }

  async #storeResult(session: Session): Promise<void> {
    const { results, delegations } = this.#parts;
    const { view, over } = session;
    if (view === undefined || !over) return;
    const task = delegatedTaskOf(session, view);
    const key = resultKey(task);
    if (this.#collected.has(key)) return;
    // `settled` waits until the outbox entry contains the task id.
    await delegations.settled();
    // The same task may have continued during `settled`. Its next end is then a new result.
    const continues = !session.over && session.view?.taskId === view.taskId;
    if (!continues && !this.#collected.has(key)) await results.put(task, view.state);
  }

  /**
   * Stores the result of a task whose session has a newer task, e.g. one that another client has started. If the earlier
   * task waits or cannot be read, closes its delegation. An agent may leave such a task as it is forever, because it
   * starts a new task for each message.
   */
  async #storeEarlierResult(agent: Agent, task: DelegatedTaskId): Promise<void> {
    const { results, outbox } = this.#parts;
    const { taskId } = task;
    // An agent that answers with a message keeps no task.
    if (taskId === '') return results.put(task, 'unknown');
    try {
      const view = await agent.ask(async (connection) =>
        viewOfWholeTask(await connection.task(taskId), connection.dialect),
      );
      if (view?.state === 'submitted' || view?.state === 'working') return;
      if (view !== undefined && hasEnded(view)) await results.put(task, view.state);
      else outbox.collect(task, 'unknown');
    } catch (error) {
      if (!(error instanceof ProductError) || error.reason !== 'UNKNOWN_TASK') throw error;
      await results.put(task, 'unknown');
    }
  }

  async #readTasks(): Promise<void> {
    const { delegations, outbox } = this.#parts;
    // The check starts in the next turn of the event loop, so that the tool call sends its own requests first. The
    // check then need not repeat them.
    await nextTurn();
    await delegations.takeOverOrphaned();
    // The map removes duplicates, because several delegations may belong to the same task.
    const going = new Map(
      outbox.listUnfinishedTasks(MAX_CHECKED_TASKS).map((task) => [resultKey(task), task]),
    );
    const byAgent = new Map<string, DelegatedTaskId[]>();
    for (const [key, task] of going) {
      if (this.#collected.has(key)) continue;
      byAgent.set(task.agent, [...(byAgent.get(task.agent) ?? []), task]);
    }
    await Promise.all([...byAgent].map(([agent, tasks]) => this.#checkTasksOfAgent(agent, tasks)));
  }

  /**
   * Checks the tasks of one agent one after the other, so that an unreachable agent gets only one request. Any other
   * error concerns only its task.
   */
  async #checkTasksOfAgent(name: string, tasks: readonly DelegatedTaskId[]): Promise<void> {
    const { registry, live, sessions, log } = this.#parts;
    const agent = registry.find(name);
    if (agent === undefined) return;
    // Every tool call runs this code. A search of all sessions for each task would be slow, so the tasks with an open
    // stream are collected once.
    const streamed = new Set(
      live.all.flatMap((session) => {
        const { hasStream, over, view } = session;
        return hasStream && !over && view !== undefined ? [resultKey(delegatedTaskOf(session, view))] : [];
      }),
    );
    for (const task of tasks)
      try {
        // The session reads the stream of this task, and so learns of its end.
        if (streamed.has(resultKey(task))) continue;
        const handle = acceptedHandle(task);
        const here = live.find(handle, name);
        await here?.refreshState();
        const session = here ?? (await sessions.find(handle, { agent: name }));
        await this.#storeResult(session);
        if (session.view !== undefined && session.view.taskId !== task.taskId)
          await this.#storeEarlierResult(agent, task);
      } catch (error) {
        const { taskId } = task;
        log.debug({ agent: name, taskId, problem: errorMessageOf(error) }, 'a task could not be read');
        if (error instanceof ProductError && error.retryable) return;
      }
  }
}

function delegatedTaskOf({ agent, id: sessionId }: Session, { taskId }: TaskView): DelegatedTaskId {
  return { agent: agent.name, taskId, sessionId };
}

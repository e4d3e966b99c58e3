/**
 * Sends the cancels that are recorded in the outbox, for delegations that the agent has accepted. An entry keeps its
 * cancel until the agent has responded. If this bridge ends first, the next bridge sends the cancel. A later message to
 * the task revokes the cancel.
 */
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { CancelDetails } from '../agents/connection.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import type { Outbox } from '../state/outbox.ts';
import type { OutboxEntry } from '../state/outbox-entry.ts';
import { requestCancel } from './cancel-task.ts';
import type { LiveSessions } from './live-sessions.ts';
import type { Session } from './session/session.ts';
import { isCancelRevoked } from './search-open-outbox-entries.ts';

export interface RecordedCancelsParts {
  outbox: Outbox;
  registry: AgentRegistry;
  live: LiveSessions;
  log: Logger;
  /** How the person uses this program: over MCP or on the command line. The agent records this with a cancel. */
  channel: CancelDetails['channel'];
}

/**
 * The delay before the first retry of a cancel whose agent was unreachable, and the longest delay, in milliseconds. A
 * person who cancels expects the work to stop soon, so the first retries follow quickly.
 */
const RETRY_MS = { first: 1_000, longest: 60_000 };

export class RecordedCancels {
  readonly #parts: RecordedCancelsParts;
  /** The ids of the messages whose cancels are being sent. */
  readonly #underWay = new Set<string>();
  #later: NodeJS.Timeout | undefined;
  #closed = false;
  /** The number of retries since a cancel last succeeded. The delay before the next retry grows with it. */
  #retries = 0;

  constructor(parts: RecordedCancelsParts) {
    this.#parts = parts;
  }

  /**
   * Sends the recorded cancels. Resolves when each agent has responded or is unreachable. A cancel for an unreachable
   * agent is sent again later. Never rejects.
   */
  async send(): Promise<void> {
    const { outbox, log } = this.#parts;
    try {
      await Promise.all(outbox.cancels().map((entry) => this.#sendOne(entry)));
    } catch (error) {
      log.warn({ err: error }, 'the cancels in the outbox could not be read or brought up to date');
    }
  }

  /** Ends the retries of this bridge. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#later);
  }

  #sendLater(): void {
    // One timer is enough, because `send` sends all recorded cancels.
    if (this.#closed || this.#later !== undefined) return;
    this.#later = setTimeout(
      () => {
        this.#later = undefined;
        void this.send();
      },
      Math.min(RETRY_MS.first * 2 ** this.#retries, RETRY_MS.longest),
    ).unref();
    this.#retries += 1;
  }

  async #sendOne(entry: OutboxEntry): Promise<void> {
    const { messageId } = entry;
    const { outbox } = this.#parts;
    if (this.#underWay.has(messageId)) return;
    this.#underWay.add(messageId);
    try {
      if (await this.#trySending(entry)) outbox.update(messageId, { cancel: null });
    } finally {
      this.#underWay.delete(messageId);
    }
  }

  /** Sends one cancel. Returns false if it must be sent again later. */
  async #trySending({ messageId, agent: name, cancel, state }: OutboxEntry): Promise<boolean> {
    const { outbox, registry, live, log, channel } = this.#parts;
    const agent = registry.find(name);
    if (cancel === null || state.type !== 'accepted' || agent === undefined) return false;
    const { taskId, sessionId } = state;
    // The agent has answered with a message, and has no task.
    if (taskId === '') return true;
    const facts = { messageId, sessionId, taskId, reason: cancel };
    const by = { reason: cancel, channel };
    const sessionNow = (): Session | undefined => live.find(taskId, name);
    try {
      // The agent may take long to connect. Meanwhile a later message may revoke the cancel, or the session may be
      // opened. So both checks come after the connection.
      await agent.connect();
      if (isCancelRevoked(outbox.open(), messageId, taskId)) return true;
      const session = sessionNow();
      if (session === undefined) await agent.ask((connection) => connection.cancel(taskId, by));
      else await requestCancel(session, taskId, by);
      log.info(facts, 'a recorded cancel was sent');
      this.#retries = 0;
      return true;
    } catch (error) {
      log.warn({ ...facts, problem: errorMessageOf(error) }, 'a recorded cancel was not carried out');
      if (error instanceof ProductError && error.retryable) {
        this.#sendLater();
        return false;
      }
      sessionNow()?.leaveNotes([`The task was not cancelled: ${errorMessageOf(error)}`]);
      return true;
    }
  }
}

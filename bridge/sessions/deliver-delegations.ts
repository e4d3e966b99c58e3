/**
 * Delegates tasks. B1: a delegation happens exactly once. So its entry is in the outbox before its message is sent, and
 * every attempt sends the same message. If a bridge is killed, the next bridge finishes its delegations.
 *
 * `#begin` writes the entry. `MessageDelivery` sends the message and updates the entry. `handOverResult` closes the
 * entry. For an entry of an ended bridge, `takeOverOrphaned` continues with `MessageDelivery`.
 */
import { randomUUID } from 'node:crypto';
import { ProductError } from '../../shared/runtime/errors.ts';
import { currentTrace } from '../agents/http/current-trace.ts';
import type { Agent } from '../agents/agent.ts';
import { acceptedHandle, type OutboxEntry, type DelegatedWork } from '../state/outbox-entry.ts';
import { taskTitleOf } from './task-title.ts';
import type { FileContents } from '../state/outbox.ts';
import type { WaitingResults } from '../state/waiting-results.ts';
import type { OnReplyConfirmed } from './replies-not-confirmed-by-client.ts';
import { type RequestedWork, isSameUnansweredWork } from './repeated-delegation.ts';
import type { CancelOutcome } from './cancel-task.ts';
import { MessageDelivery, RESEND_AFTER_MS } from './message-delivery.ts';
import { MessagesInFlight } from './messages-in-flight.ts';
import { OutboxWriteQueue } from './outbox-write-queue.ts';
import { RecordedCancels, type RecordedCancelsParts } from './recorded-cancels.ts';
import { handOverResult } from './result-handover.ts';
import type { DeliveryParts } from './delivery-parts.ts';
import type { Session } from './session/session.ts';
import { TaskCanceller } from './cancel-task-and-undelivered-messages.ts';
import { sessionProblem, sessionStateName } from './session/session-state.ts';
import { WaitingMcpCalls } from './waiting-calls.ts';

interface Delegation {
  session: Session;
  messageId: string;
  delivery: Promise<void>;
}

interface DelegationParts extends RecordedCancelsParts {
  results: WaitingResults;
  /** The directory in which the person works. */
  directory: string;
}

export class DelegationService {
  readonly #parts: DelegationParts & DeliveryParts;
  readonly #delivery: MessageDelivery;
  readonly #canceller: TaskCanceller;
  #later: NodeJS.Timeout | undefined;

  constructor(parts: DelegationParts) {
    this.#parts = {
      ...parts,
      outgoing: new MessagesInFlight(),
      writes: new OutboxWriteQueue(parts.log),
      calls: new WaitingMcpCalls(parts),
      recorded: new RecordedCancels(parts),
    };
    this.#delivery = new MessageDelivery({
      ...this.#parts,
      onPostponed: () => this.#takeOverOrphanedLater(),
    });
    this.#canceller = new TaskCanceller(this.#parts);
  }

  /** Starts a new session with the agent. Resolves when the entry is in the outbox and sending has begun. */
  async start(agent: Agent, work: DelegatedWork): Promise<Delegation> {
    const entry = entryOf(agent, work, this.#parts.directory);
    const session = this.#parts.live.open(agent, entry.messageId);
    const delivery = this.#begin(session, entry, { contents: work.contents });
    this.#parts.live.add(session);
    return { session, messageId: entry.messageId, delivery };
  }

  /**
   * Sends a message to an existing session. If the session's task runs, the task receives the message. If the task has
   * ended, the message starts the session's next task.
   * @param beforeSending called after the bridge has connected and before it sends. If it throws, nothing is sent.
   * @throws ProductError SESSION_BUSY until the session's first message is delivered
   */
  async continueSession(
    session: Session,
    work: DelegatedWork,
    beforeSending: () => void = () => undefined,
  ): Promise<Delegation> {
    if (session.view === undefined)
      throw new ProductError(
        'SESSION_BUSY',
        `Session "${session.id}" has no task yet, so it takes no message; nothing was sent. ${sessionProblem(session.state) ?? ''} Wait for it with wait_for_task, or cancel it with cancel_running_task.`,
        { facts: { sessionId: session.id } },
      );
    // Connecting may take long. Until the message is sent, the session counts as ended, and old ended sessions are
    // removed from memory. So it is kept here.
    const release = this.#parts.live.keep(session);
    try {
      return await this.#goOn(session, work, beforeSending);
    } finally {
      release();
    }
  }

  async #goOn(session: Session, work: DelegatedWork, beforeSending: () => void): Promise<Delegation> {
    const { dialect } = await session.agent.connect();
    // This check comes after the connection, because meanwhile the client may have cancelled the tool call, or the
    // task may have ended.
    beforeSending();
    const { over, view } = session;
    const goesOn = !over || (dialect.keepsTask && view?.state === 'completed');
    const entry = {
      ...entryOf(session.agent, work, this.#parts.directory),
      sessionId: session.id,
      taskId: (goesOn && view?.taskId) || null,
    };
    const delivery = this.#begin(session, entry, {
      contents: work.contents,
      answers: session.lastPendingInput.question?.id,
    });
    return { session, messageId: entry.messageId, delivery };
  }

  /** Cancels the task of a session; see `TaskCanceller.cancel`. */
  cancel(session: Session, reason: string, signal?: AbortSignal): Promise<CancelOutcome> {
    return this.#canceller.cancel(session, reason, signal);
  }

  /** Cancels the task of one message; see `TaskCanceller.cancelMessage`. */
  cancelMessage(session: Session, messageId: string, reason: string): Promise<void> {
    return this.#canceller.cancelMessage(session, messageId, reason);
  }

  /**
   * Returns the last identical delegation whose client may have received no reply, e.g. because the client cancelled
   * its tool call or the bridge was killed.
   */
  async findUnanswered(asked: RequestedWork): Promise<OutboxEntry | undefined> {
    await this.takeOverOrphaned();
    return this.#parts.outbox
      .openWithTitle(taskTitleOf(asked.text))
      .findLast((entry) => isSameUnansweredWork(entry, asked) && this.#isGivenUp(entry));
  }

  #isGivenUp({ messageId, agent, state }: OutboxEntry): boolean {
    if (state.type === 'accepted') {
      const task = this.#parts.live.find(acceptedHandle(state), agent)?.state;
      if (task?.type === 'ended' && task.view.taskId === state.taskId && task.result === 'handed-over')
        return false;
    }
    return !this.#parts.calls.isWaiting(messageId);
  }

  /**
   * Records that a tool call waits for the delegation. R99: a repeated tool call starts no second task. Until the
   * client has received the reply, a repeated tool call joins this task, even after a crash.
   * @returns a function that records that the client has received the reply
   */
  recordWaitingCall(messageId: string, call: AbortSignal): OnReplyConfirmed {
    return this.#parts.calls.recordWaitingCall(messageId, call);
  }

  /** Records that the person at the command line has received the reply to this message. */
  recordReplyReceived(messageId: string): void {
    this.#parts.calls.recordReplyReceived(messageId);
  }

  /**
   * Records that the reply to a tool call says that the session's newest messages are not delivered. If the delivery
   * finally fails, the outbox stores the failure. R99: a repeated tool call starts no second task. Such a reply is not
   * a result, so a repeated tool call still joins the same task.
   */
  recordUndeliveredReply(session: Session, call: AbortSignal): void {
    const failed = sessionStateName(session.state) === 'not-delivered';
    for (const outgoing of this.#parts.outgoing.of(session)) {
      outgoing.promised = true;
      if (failed) this.#parts.calls.end(outgoing.messageId, call);
    }
  }

  /** Records that a reply to the client contains the result; see `handOverResult`. */
  handOver(session: Session): OnReplyConfirmed {
    return handOverResult(session, this.#parts);
  }

  /** Records that the client has the result, or an id with which it can get the result. */
  collect(session: Session): void {
    this.handOver(session)();
  }

  async settled(): Promise<void> {
    await this.#parts.writes.settled();
  }

  /** Releases the outbox entries of this process, so that another bridge can take them over now. */
  release(): void {
    clearTimeout(this.#later);
    this.#parts.recorded.close();
    try {
      this.#parts.outbox.release();
    } catch (error) {
      this.#parts.log.warn(
        { err: error },
        'the outbox entries could not be released; the next bridge takes them over when this process has ended',
      );
    }
  }

  /** Finishes the delegations of bridges that have ended. Errors are only logged, because no caller waits. */
  async recover(): Promise<void> {
    await this.takeOverOrphaned();
    await Promise.allSettled(this.#parts.outgoing.orphaned.map(({ finished }) => finished));
  }

  /** Takes over the delegations of bridges that have ended, and sends again what this bridge could not deliver. */
  async takeOverOrphaned(): Promise<void> {
    const { outbox, registry, live, log } = this.#parts;
    await outbox.takeOverOrphaned();
    void this.#parts.recorded.send();
    for (const entry of outbox.sending()) {
      const { messageId } = entry;
      const agent = registry.find(entry.agent);
      // If the agent is not configured, its entry stays. The user may configure the agent again.
      if (this.#parts.outgoing.has(messageId) || agent === undefined) continue;
      // If the session is already open, the message belongs to it.
      const handle = entry.sessionId ?? messageId;
      const session = live.find(handle, entry.agent) ?? live.add(live.open(agent, handle));
      const outgoing = this.#parts.outgoing.add(session, entry, 'ended-bridge');
      outgoing.finished = this.#delivery
        .resume(outgoing, entry)
        .then(() => this.settled())
        .finally(() => this.#parts.outgoing.remove(outgoing));
      outgoing.finished.catch((error: unknown) =>
        log.warn({ messageId, err: error }, 'a delegation of an earlier bridge is still open'),
      );
    }
  }

  /**
   * Takes over a delegation whose bridge has ended.
   * @returns `done`, which resolves when the delegation is delivered or has failed; undefined if another process
   * finishes the delegation
   */
  async takeOver(messageId: string): Promise<{ done: Promise<void> } | undefined> {
    await this.takeOverOrphaned();
    const outgoing = this.#parts.outgoing.get(messageId);
    return outgoing?.origin === 'ended-bridge' ? { done: outgoing.finished } : undefined;
  }

  /** Writes the entry, and then sends its message. @throws ProductError STORAGE. Nothing is sent then. */
  #begin(
    session: Session,
    entry: OutboxEntry,
    { contents, answers }: { contents?: FileContents | undefined; answers?: string | undefined } = {},
  ): Promise<void> {
    const { messageId } = entry;
    const { outbox, log } = this.#parts;
    const outgoing = this.#parts.outgoing.add(session, entry, 'this-bridge');
    this.#parts.calls.begin(messageId);
    try {
      outbox.put(entry, contents);
    } catch (error) {
      this.#parts.outgoing.remove(outgoing);
      this.#parts.calls.end(messageId);
      throw error;
    }
    outgoing.finished = this.#delivery.send(outgoing, entry, { answers });
    // No caller has to handle this error, because the outbox records the outcome.
    outgoing.finished.catch((error: unknown) =>
      log.debug({ messageId, err: error }, 'a delegation has not arrived'),
    );
    return outgoing.finished;
  }

  #takeOverOrphanedLater(): void {
    this.#later ??= setTimeout(() => {
      this.#later = undefined;
      this.takeOverOrphaned().catch((failure: unknown) =>
        this.#parts.log.warn({ err: failure }, 'the outbox could not be read'),
      );
    }, RESEND_AFTER_MS).unref();
  }
}

/** Builds the outbox entry of a message that starts a session. */
function entryOf(
  agent: Agent,
  { text, settings, command, files }: DelegatedWork,
  delegatedIn: string,
): OutboxEntry {
  return {
    messageId: randomUUID(),
    agent: agent.name,
    title: taskTitleOf(text),
    text,
    settings,
    command,
    files,
    trace: currentTrace(),
    delegatedIn,
    sessionId: null,
    taskId: null,
    createdAt: new Date().toISOString(),
    state: { type: 'sending' },
    cancel: null,
    answered: false,
  };
}

/**
 * Delegates a task exactly once (B1). The outbox holds the entry before the message leaves, and every attempt sends the
 * same message. If a bridge is killed, the next bridge finishes its delegations.
 *
 * The steps of a delegation: `#begin` writes the entry. `#send` delivers the message. `#accepted` or `#failed` updates
 * the entry. `ResultHandover` closes it. `adopt` begins at the second step.
 */
import { randomUUID } from 'node:crypto';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Message } from '@a2a-js/sdk';
import type { Agent } from '../agents/agent.ts';
import type { CardFacts } from '../agents/card.ts';
import { refuseFiles } from '../agents/input-modes.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Registry } from '../agents/registry.ts';
import type { OutboxEntry, DelegatedWork } from '../state/outbox-entry.ts';
import { titleOf } from './task-title.ts';
import type { FileContents, Outbox } from '../state/outbox.ts';
import type { WaitingResults } from '../state/waiting-results.ts';
import type { OnReceipt } from './unconfirmed-answers.ts';
import { type RequestedWork, isSameCall } from './same-call.ts';
import type { CancelRequest } from '../agents/connection.ts';
import type { CancelEnd } from './cancel-task.ts';
import { findByMessage } from './find-lost-message.ts';
import { delegationMessage } from './delegation-message.ts';
import { asStreamResponse } from '../agents/task-event.ts';
import type { LiveSessions } from './live-sessions.ts';
import { type OutgoingMessage, OutgoingMessages } from './outgoing-messages.ts';
import { OutboxWrites } from './outbox-writes.ts';
import { RecordedCancels } from './recorded-cancels.ts';
import { ResultHandover } from './result-handover.ts';
import type { Session } from './session.ts';
import { SessionCancels } from './session-cancels.ts';
import { problemMessage, stateName } from './session-state.ts';
import { WaitingCalls } from './waiting-calls.ts';

interface Delegation {
  session: Session;
  messageId: string;
  /** Resolves when the agent has the message. */
  delivery: Promise<void>;
}

interface DelegationParts {
  registry: Registry;
  outbox: Outbox;
  results: WaitingResults;
  live: LiveSessions;
  log: Logger;
  /** The surface of this program. The agent records it with a cancel. */
  channel: CancelRequest['channel'];
}

/** The delay in milliseconds between two series of attempts to deliver a message that may have arrived. */
const LATER_MS = 60_000;

export class DelegationService {
  readonly #parts: DelegationParts;
  readonly #outgoing = new OutgoingMessages();
  readonly #calls: WaitingCalls;
  readonly #writes: OutboxWrites;
  readonly #recordedCancels: RecordedCancels;
  readonly #cancels: SessionCancels;
  readonly #handover: ResultHandover;
  #later: NodeJS.Timeout | undefined;

  constructor(parts: DelegationParts) {
    this.#parts = parts;
    this.#calls = new WaitingCalls(parts);
    this.#writes = new OutboxWrites(parts.log);
    const [outgoing, writes] = [this.#outgoing, this.#writes];
    this.#recordedCancels = new RecordedCancels({ ...parts, onUnreachable: () => this.#adoptLater() });
    this.#cancels = new SessionCancels({ ...parts, outgoing, writes, recorded: this.#recordedCancels });
    this.#handover = new ResultHandover({ ...parts, writes });
  }

  /**
   * Starts a session with the agent. Resolves when the outbox holds the delegation and the bridge has begun to send.
   */
  async start(agent: Agent, work: DelegatedWork): Promise<Delegation> {
    const entry = entryOf(agent, work);
    const session = this.#parts.live.open(agent, entry.messageId);
    const delivery = this.#begin(session, entry, work.contents);
    this.#parts.live.add(session);
    return { session, messageId: entry.messageId, delivery };
  }

  /**
   * Continues a session. A live task gets the message. After an ended task, the message begins the session's next task.
   * @param beforeSending called when the bridge is connected, before it sends. If this function throws, the bridge
   * sends nothing.
   * @throws ProductError SESSION_BUSY until the session's first message is delivered
   */
  async goOn(
    session: Session,
    work: DelegatedWork,
    beforeSending: () => void = () => undefined,
  ): Promise<Delegation> {
    if (session.view === undefined)
      throw new ProductError(
        'SESSION_BUSY',
        `Session "${session.id}" has no task yet, so it takes no message; nothing was sent. ${problemMessage(session.state) ?? ''} Wait for it with wait_for_task, or cancel it with cancel_running_task.`,
        { facts: { sessionId: session.id } },
      );
    // A connection can take long. The session must stay in memory meanwhile, although it counts as ended until the
    // message leaves.
    const release = this.#parts.live.keep(session);
    try {
      return await this.#goOn(session, work, beforeSending);
    } finally {
      release();
    }
  }

  async #goOn(session: Session, work: DelegatedWork, beforeSending: () => void): Promise<Delegation> {
    const { dialect } = await session.agent.connect();
    // While the bridge connected, the client may have cancelled the call, and the task may have ended.
    beforeSending();
    const { over, view } = session;
    const goesOn = !over || (dialect.keepsTask && view?.state === 'completed');
    const entry = {
      ...entryOf(session.agent, work),
      sessionId: session.id,
      taskId: (goesOn && view?.taskId) || null,
    };
    const delivery = this.#begin(session, entry, work.contents, session.asked.question?.id);
    return { session, messageId: entry.messageId, delivery };
  }

  /** As `SessionCancels.cancel`. */
  cancel(session: Session, reason: string): Promise<CancelEnd> {
    return this.#cancels.cancel(session, reason);
  }

  /** As `SessionCancels.cancelMessage`. */
  cancelMessage(session: Session, messageId: string, reason: string): Promise<void> {
    return this.#cancels.cancelMessage(session, messageId, reason);
  }

  /**
   * Returns the last delegation of the same call if its client got no answer: the client withdrew the call, or the
   * bridge ended.
   */
  async unanswered(asked: RequestedWork): Promise<OutboxEntry | undefined> {
    await this.adopt();
    return this.#parts.outbox
      .titled(titleOf(asked.text))
      .findLast((entry) => isSameCall(entry, asked) && this.#isGivenUp(entry));
  }

  #isGivenUp({ messageId, agent, state }: OutboxEntry): boolean {
    if (state.type === 'accepted') {
      const task = this.#parts.live.find(state.taskId, agent)?.state;
      if (task?.type === 'ended' && task.view.taskId === state.taskId && task.result === 'handed-over')
        return false;
    }
    return !this.#calls.isWaiting(messageId);
  }

  /**
   * Records that a call waits for the delegation. A repeat of the call joins this task until the client has the answer,
   * even if the bridge is killed meanwhile (R99).
   * @returns a function that records that the client has the answer
   */
  asks(messageId: string, call: AbortSignal): OnReceipt {
    return this.#calls.asks(messageId, call);
  }

  /**
   * Call this when a reply reports that a message is not yet delivered. The outbox then keeps the outcome. Such a reply
   * is not a result, so a repeat of the call joins the same task (R99).
   */
  promise(session: Session, call: AbortSignal): void {
    const failed = stateName(session.state) === 'not-delivered';
    for (const [messageId, outgoing] of this.#outgoing.of(session)) {
      outgoing.promised = true;
      if (failed) this.#calls.end(messageId, call);
    }
  }

  /** As `ResultHandover.handOver`. */
  handOver(session: Session): OnReceipt {
    return this.#handover.handOver(session);
  }

  /** Records that the client has the result, or an id with which it can fetch the result. */
  collect(session: Session): void {
    this.handOver(session)();
  }

  /** Resolves when all pending writes are done. */
  async settled(): Promise<void> {
    await this.#writes.settled();
  }

  /** Releases the outbox entries of this process. So the next bridge can take them before this process ends. */
  release(): void {
    clearTimeout(this.#later);
    try {
      this.#parts.outbox.release();
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'the next bridge goes on when this process has ended');
    }
  }

  /** Finishes the delegations of ended bridges. It only logs failures, because no caller waits for them. */
  async recover(): Promise<void> {
    await this.adopt();
    await Promise.allSettled(this.#outgoing.all.flatMap(({ done }) => done ?? []));
  }

  /** Takes over the delegations of ended bridges, and sends again those that this bridge could not deliver. */
  async adopt(): Promise<void> {
    const { outbox, registry, live, log } = this.#parts;
    await outbox.adopt();
    void this.#recordedCancels.send();
    for (const entry of outbox.sending()) {
      const { messageId } = entry;
      const agent = registry.find(entry.agent);
      // If the agent is not configured, its entry stays. The user may configure the agent again.
      if (this.#outgoing.get(messageId) !== undefined || agent === undefined) continue;
      // If the session is open already, the message belongs to that session.
      const handle = entry.sessionId ?? messageId;
      const session = live.find(handle, entry.agent) ?? live.add(live.open(agent, handle));
      const outgoing = this.#outgoing.add(session, entry, { promised: true });
      outgoing.done = this.#resume(outgoing, entry)
        .then(() => this.settled())
        .finally(() => this.#outgoing.remove(messageId, outgoing));
      outgoing.done.catch((error: unknown) =>
        log.warn({ messageId, err: error }, 'a delegation of an earlier bridge is still open'),
      );
    }
  }

  /**
   * Takes over a delegation whose bridge has ended.
   * @returns `done`, which resolves when the delegation is delivered or has failed; undefined if this process does not
   * finish the delegation
   */
  async takeUp(messageId: string): Promise<{ done: Promise<void> } | undefined> {
    await this.adopt();
    const done = this.#outgoing.get(messageId)?.done;
    return done === undefined ? undefined : { done };
  }

  /** Writes the entry, then sends its message. @throws ProductError STORAGE; then nothing is sent */
  #begin(session: Session, entry: OutboxEntry, contents?: FileContents, answers?: string): Promise<void> {
    const { messageId } = entry;
    const { outbox, log } = this.#parts;
    const outgoing = this.#outgoing.add(session, entry, { promised: false });
    this.#calls.begin(messageId);
    try {
      outbox.put(entry, contents);
    } catch (error) {
      this.#outgoing.remove(messageId, outgoing);
      this.#calls.end(messageId);
      throw error;
    }
    const delivery = this.#send(outgoing, entry, { answers });
    outgoing.delivery = delivery;
    // No caller has to wait for this promise, because the outbox records the outcome.
    delivery.catch((error: unknown) => log.debug({ messageId, err: error }, 'a delegation has not arrived'));
    return delivery;
  }

  async #resume(outgoing: OutgoingMessage, entry: OutboxEntry): Promise<void> {
    const { messageId } = entry;
    const { session } = outgoing;
    const { outbox, live } = this.#parts;
    try {
      const connection = await session.agent.connect();
      // The bridge does not send a cancelled delegation again. The cancel may have arrived while the bridge connected.
      if (connection.deduplicates && outgoing.cancel === null)
        return await this.#send(outgoing, entry, { resumed: true });
      const found = await findByMessage(connection, delegationMessage(entry, connection.dialect));
      if (found !== undefined) {
        session.take(asStreamResponse(found), connection);
        this.#accepted(outgoing, messageId);
        session.follow();
        return;
      }
    } catch (error) {
      if (outgoing.unconfirmed) this.#postpone(outgoing, messageId, error);
      throw error;
    }
    const message = `Whether agent "${session.agent.name}" got this is not known: the bridge ended while it was sent. Look at the agent before you delegate it again.`;
    const { cancel } = outgoing;
    if (cancel !== null) outbox.drop(messageId);
    else outbox.update(messageId, { state: { type: 'lost', message } });
    if (session.view === undefined) return live.remove(session);
    session.drop();
    if (cancel === null) session.leaveNotes([message]);
  }

  async #send(
    outgoing: OutgoingMessage,
    entry: OutboxEntry,
    { answers, resumed = false }: { answers?: string | undefined; resumed?: boolean },
  ): Promise<void> {
    const { session, withdraw } = outgoing;
    try {
      const write = (dialect: Dialect, card: CardFacts): Message => {
        const { files = [] } = entry;
        refuseFiles(files, card);
        const contents = files.length === 0 ? undefined : this.#parts.outbox.contents(entry.messageId);
        return delegationMessage(entry, dialect, contents);
      };
      await session.deliver(write, {
        answers,
        resumed,
        withdrawal: { signal: withdraw.signal, wanted: () => outgoing.cancel === null },
      });
    } catch (error) {
      throw this.#failed(outgoing, entry.messageId, error);
    }
    this.#accepted(outgoing, entry.messageId);
    const { deduplicates } = await session.agent.connect();
    // An agent that does not de-duplicate may also not list its tasks. So the id must be on disk before a client gets
    // it.
    if (!deduplicates) await this.#writes.of(session);
  }

  /**
   * Records that the agent has named the task. If a crash loses this write, the next bridge sends the message again, or
   * searches for the task.
   */
  #accepted(outgoing: OutgoingMessage, messageId: string): void {
    outgoing.unconfirmed = false;
    const { session } = outgoing;
    const { view, id } = session;
    if (view === undefined) return;
    const { taskId } = view;
    const { outbox } = this.#parts;
    this.#writes.begin(session, async () => {
      try {
        const state = { type: 'accepted' as const, taskId, sessionId: id };
        await outbox.together(() => outbox.update(messageId, { state }));
      } finally {
        this.#outgoing.remove(messageId, outgoing);
      }
      if (outgoing.cancel !== null) await this.#recordedCancels.send();
    });
  }

  /** Records a failed delivery. @returns the error that the call reports */
  #failed(outgoing: OutgoingMessage, messageId: string, error: unknown): unknown {
    const { session, cancel, promised, done } = outgoing;
    const { outbox, live } = this.#parts;
    outgoing.unconfirmed = false;
    const known = error instanceof ProductError ? error : undefined;
    const arrived = known?.facts['arrived'];
    // An earlier series of attempts may have delivered this message.
    const withdrawnInTime = cancel !== null && arrived === 'no' && done === undefined;
    // The outcome is not final, so the entry stays. The bridge that takes the entry over sends the same message (R99).
    if (arrived === 'unresolved' || (done !== undefined && known?.retryable === true))
      return this.#postpone(outgoing, messageId, error);
    this.#outgoing.remove(messageId, outgoing);
    if (withdrawnInTime || (arrived !== 'unknown' && !promised)) outbox.drop(messageId);
    // The client has the id and can still ask for the outcome, so the entry records the failure.
    else outbox.update(messageId, { state: { type: 'lost', message: messageOf(error) } });
    if (session.view === undefined) live.remove(session);
    else if (promised) session.leaveNotes([`The last message was not delivered: ${messageOf(error)}`]);
    return error;
  }

  /**
   * Keeps the entry in the outbox. The bridge sends the message again later, or with the client's next call.
   * @returns the error that the call reports; it names the session and says when the bridge tries again
   */
  #postpone(outgoing: OutgoingMessage, messageId: string, error: unknown): unknown {
    this.#outgoing.remove(messageId, outgoing);
    this.#calls.end(messageId);
    outgoing.session.postpone(messageOf(error), new Date(Date.now() + LATER_MS));
    this.#adoptLater();
    return error instanceof ProductError ? kept(outgoing.session, error) : error;
  }

  #adoptLater(): void {
    this.#later ??= setTimeout(() => {
      this.#later = undefined;
      this.adopt().catch((failure: unknown) =>
        this.#parts.log.warn({ err: failure }, 'the outbox could not be read'),
      );
    }, LATER_MS).unref();
  }
}

/**
 * The error for a call whose message stays in the outbox. If the client repeats the call, the call joins that message.
 */
function kept({ id }: Session, { reason, message, facts, cause }: ProductError): ProductError {
  const sentence = `${message} The bridge keeps the message and sends it again: wait_for_task with sessionId "${id}" waits for it. To repeat the same call is safe: nothing is sent twice.`;
  return new ProductError(reason, sentence, { facts: { ...facts, sessionId: id }, cause });
}

/** The entry of a message that begins a session. */
function entryOf(agent: Agent, { text, settings, command, files }: DelegatedWork): OutboxEntry {
  return {
    messageId: randomUUID(),
    agent: agent.name,
    title: titleOf(text),
    text,
    settings,
    ...(command && { command }),
    ...(files && { files }),
    sessionId: null,
    taskId: null,
    createdAt: new Date().toISOString(),
    state: { type: 'sending' },
    cancel: null,
    answered: false,
  };
}

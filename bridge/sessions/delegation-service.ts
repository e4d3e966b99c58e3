/**
 * Delegates a task exactly once (B1). The outbox holds the entry before the message leaves, and every attempt sends
 * the same message. If a bridge is killed, the next bridge finishes its delegations.
 */
import { randomUUID } from 'node:crypto';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Agent } from '../agents/agent.ts';
import type { Registry } from '../agents/registry.ts';
import type { OutboxEntry, DelegatedWork } from '../state/outbox-entry.ts';
import { titleOf } from './task-title.ts';
import type { Outbox } from '../state/outbox.ts';
import type { OnReceipt } from './answer-receipts.ts';
import { type AskedFor, isSameCall } from './same-call.ts';
import type { CancelRequest } from '../agents/connection.ts';
import { cancelTask, type CancelEnd } from './cancel-task.ts';
import { findByMessage } from './find-lost-message.ts';
import { delegationMessage } from './delegation-message.ts';
import { asStreamResponse } from '../agents/task-event.ts';
import type { Session } from './session.ts';
import type { Sessions } from './sessions.ts';
import { hasEnded } from './task-view.ts';

export interface Delegation {
  session: Session;
  messageId: string;
  /** Resolves when the agent has the message. */
  delivery: Promise<void>;
}

const NOT_WITHDRAWN = new AbortController().signal;

export class DelegationService {
  readonly #registry: Registry;
  readonly #outbox: Outbox;
  readonly #sessions: Sessions;
  readonly #log: Logger;
  readonly #channel: CancelRequest['channel'];
  /** Cancelled before the agent named the task: message id → reason. */
  readonly #cancelled = new Map<string, string>();
  /** Unacknowledged messages: message id → session. */
  readonly #onItsWay = new Map<string, Session>();
  /** Messages this process is sending. */
  readonly #underway = new Set<string>();
  /** Delegations of ended bridges that this process finishes: message id → its completion. */
  readonly #resuming = new Map<string, Promise<void>>();
  /**
   * Stops announcing the result of a session. The inbox sets this function.
   * @returns a function that removes the result from the disk
   */
  stopAnnouncing: (session: Session) => () => void = () => () => undefined;
  /**
   * Calls that wait for their answer, or whose answer the client has not confirmed. Message id → the signal that
   * aborts when the client withdraws the call.
   */
  readonly #asking = new Map<string, AbortSignal>();
  /** Tasks whose results are handed over and whose entries are not closed yet. */
  readonly #handingOver = new Set<string>();
  /** Pending outbox writes, by session. No call waits for them. */
  readonly #notes = new Map<Session, Promise<void>>();

  /** @param parts.channel the surface of this program, for the record of a cancel */
  constructor(parts: {
    registry: Registry;
    outbox: Outbox;
    sessions: Sessions;
    log: Logger;
    channel: CancelRequest['channel'];
  }) {
    this.#registry = parts.registry;
    this.#outbox = parts.outbox;
    this.#sessions = parts.sessions;
    this.#log = parts.log;
    this.#channel = parts.channel;
    this.#sessions.takeUp = (messageId) => this.#takeUp(messageId);
  }

  /** Starts a session with the agent. Resolves when the outbox holds the delegation and sending has begun. */
  async start(agent: Agent, work: DelegatedWork): Promise<Delegation> {
    const entry = this.#entry(agent, work);
    this.#put(entry);
    const session = this.#sessions.add(this.#sessions.open(agent, entry.messageId));
    return { session, messageId: entry.messageId, delivery: this.#sent(session, entry) };
  }

  /**
   * Continues a session. A live task gets the message. After an ended task, the message begins the session's next
   * task.
   */
  async goOn(session: Session, work: DelegatedWork): Promise<Delegation> {
    const view = session.view;
    const { dialect } = await session.agent.connect();
    const goesOn =
      view !== undefined && (!hasEnded(view) || (dialect.keepsTask && view.state === 'completed'));
    const live = goesOn && view.taskId !== '';
    const entry = {
      ...this.#entry(session.agent, work),
      sessionId: session.id,
      taskId: live ? view.taskId : null,
    };
    this.#put(entry);
    const question = session.asked.question;
    return { session, messageId: entry.messageId, delivery: this.#sent(session, entry, question?.id) };
  }

  /**
   * Cancels the session's task, and each of its messages that has no task yet.
   * @throws ProductError when the agent cannot be reached
   */
  async cancel(session: Session, reason: string): Promise<CancelEnd> {
    const later = await this.#cancelOnItsWay(session, reason);
    await session.refresh();
    const { view } = session;
    if (view === undefined || hasEnded(view)) return later ? 'cancelled-when-known' : 'ended-before';
    return cancelTask(session, view.taskId, { reason, channel: this.#channel });
  }

  /** The last delegation of the same call, if its client withdrew the call or its bridge ended. */
  async unanswered(asked: AskedFor): Promise<OutboxEntry | undefined> {
    await this.adopt();
    return this.#outbox.mine().findLast((entry) => isSameCall(entry, asked) && this.#isGivenUp(entry));
  }

  #isGivenUp({ messageId, state }: OutboxEntry): boolean {
    if (state.type === 'accepted' && this.#handingOver.has(state.taskId)) return false;
    return this.#asking.get(messageId)?.aborted !== false;
  }

  /**
   * Records that a call waits for the delegation. Until the client has the answer, a call with the same words joins
   * the same task, also after a kill (R99).
   * @returns a function that records that the client has the answer
   */
  asks(messageId: string, call: AbortSignal): OnReceipt {
    this.#asking.set(messageId, call);
    return () => {
      if (this.#asking.get(messageId) !== call) return;
      this.#outbox
        .together(() => this.#outbox.update(messageId, { answered: true }))
        .then(
          () => this.#asking.get(messageId) === call && this.#asking.delete(messageId),
          (error: unknown) => this.#log.warn({ messageId, err: error }, 'a receipt could not be recorded'),
        );
    };
  }

  /**
   * Call this when an answer contains the result of the session's task.
   * @returns a function that records that the client has the result, and closes the entry
   */
  handOver(session: Session): OnReceipt {
    const { view } = session;
    if (view === undefined) return () => undefined;
    const { taskId, state } = view;
    const forget = this.stopAnnouncing(session);
    this.#handingOver.add(taskId);
    // An earlier note of the session writes the task id into the entry.
    return () =>
      this.#note(session, async () => {
        await this.#outbox.together(() => {
          forget();
          this.#outbox.collect(taskId, state);
        });
        this.#handingOver.delete(taskId);
      });
  }

  /** The client has the result, or can ask for it with an id that it holds. */
  collect(session: Session): void {
    this.handOver(session)();
  }

  /** Resolves when all pending writes are done. */
  async settled(): Promise<void> {
    await Promise.all(this.#notes.values());
  }

  /** Releases the outbox entries of this process: the next bridge can take them before this process has ended. */
  release(): void {
    try {
      this.#outbox.release();
    } catch (error) {
      this.#log.warn({ err: error }, 'the next bridge goes on when this process has ended');
    }
  }

  /** Finishes the delegations of ended bridges. Failures are only logged, because no caller waits for them. */
  async recover(): Promise<void> {
    await this.adopt();
    await Promise.all([...this.#resuming.values()].map((each) => each.catch(() => undefined)));
  }

  /** Begins to finish the delegations of ended bridges, and those that failed here before. */
  async adopt(): Promise<void> {
    await this.#outbox.adopt();
    for (const entry of this.#outbox.sending()) {
      const { messageId } = entry;
      if (this.#underway.has(messageId)) continue;
      this.#underway.add(messageId);
      const resuming = this.#resume(entry)
        .then(() => this.settled())
        .finally(() => {
          this.#underway.delete(messageId);
          this.#resuming.delete(messageId);
        });
      this.#resuming.set(messageId, resuming);
      resuming.catch((error: unknown) =>
        this.#log.warn({ messageId, err: error }, 'a delegation of an earlier bridge is still open'),
      );
    }
  }

  /**
   * Takes over a delegation whose bridge has ended.
   * @returns the completion, if this process finishes the delegation
   */
  async #takeUp(messageId: string): Promise<{ done: Promise<void> } | undefined> {
    await this.adopt();
    const done = this.#resuming.get(messageId);
    return done === undefined ? undefined : { done };
  }

  /**
   * Cancels each message that has no task yet, once the agent names its task. Any bridge may then send the cancel. A
   * message is never withdrawn: it may have arrived already.
   * @returns whether there was such a message
   */
  async #cancelOnItsWay(session: Session, reason: string): Promise<boolean> {
    const messageIds = [...this.#onItsWay].flatMap(([messageId, of]) =>
      of === session && !(messageId === session.firstMessageId && session.view !== undefined)
        ? [messageId]
        : [],
    );
    // The agent's answer may come before the write: memory first. The next bridge reads the disk.
    for (const messageId of messageIds) this.#cancelled.set(messageId, reason);
    for (const messageId of messageIds) this.#outbox.update(messageId, { cancel: reason });
    return messageIds.length > 0;
  }

  #put(entry: OutboxEntry): void {
    this.#underway.add(entry.messageId);
    // Its call is present. `asks` sets the signal of the call in a moment.
    this.#asking.set(entry.messageId, NOT_WITHDRAWN);
    try {
      this.#outbox.put(entry);
    } catch (error) {
      this.#underway.delete(entry.messageId);
      this.#asking.delete(entry.messageId);
      throw error;
    }
  }

  async #resume(entry: OutboxEntry): Promise<void> {
    const { messageId, cancel } = entry;
    const agent = this.#registry.find(entry.agent);
    if (agent === undefined) return; // The entry stays: the agent may be configured again later.
    const connection = await agent.connect();
    const session = this.#sessions.open(agent, messageId);
    if (cancel !== null) this.#cancelled.set(messageId, cancel);
    // A cancelled delegation is not sent again.
    if (connection.deduplicates && cancel === null) {
      await this.#send(this.#sessions.add(session), entry);
      return;
    }
    const found = await findByMessage(connection, delegationMessage(entry, connection.dialect));
    if (found !== undefined) {
      this.#sessions.add(session).take(asStreamResponse(found), connection);
      this.#accepted(session, messageId);
      session.follow();
    } else if (cancel !== null) {
      this.#outbox.drop(messageId);
    } else {
      const message = `Whether agent "${agent.name}" got this is not known: the bridge ended while it was sent. Look at the agent before you delegate it again.`;
      this.#outbox.update(messageId, { state: { type: 'lost', message } });
    }
  }

  /**
   * For callers that may not wait for the end: the outbox holds the outcome, so an unhandled failure is only logged.
   */
  #sent(session: Session, entry: OutboxEntry, answers?: string): Promise<void> {
    const delivery = this.#send(session, entry, answers);
    delivery.catch((error: unknown) =>
      this.#log.debug({ messageId: entry.messageId, err: error }, 'a delegation has not arrived'),
    );
    return delivery;
  }

  async #send(session: Session, entry: OutboxEntry, answers?: string): Promise<void> {
    const { messageId } = entry;
    this.#onItsWay.set(messageId, session);
    try {
      await session.deliver(
        (dialect) => delegationMessage(entry, dialect),
        answers === undefined ? {} : { answers },
      );
    } catch (error) {
      this.#onItsWay.delete(messageId);
      this.#cancelled.delete(messageId);
      this.#failed(session, messageId, error);
      this.#underway.delete(messageId);
      throw error;
    }
    this.#accepted(session, messageId);
    const { deduplicates } = await session.agent.connect();
    // Such an agent may not list its tasks. The handle must be on disk before a client gets it.
    if (!deduplicates) await this.#notes.get(session);
  }

  /** The agent has named the task. If this write is lost, the next bridge sends the message again or looks for it. */
  #accepted(session: Session, messageId: string): void {
    this.#onItsWay.delete(messageId);
    const view = session.view;
    if (view === undefined) return;
    const { id } = session;
    const { taskId } = view;
    const reason = this.#cancelled.get(messageId);
    this.#cancelled.delete(messageId);
    this.#note(session, async () => {
      try {
        // Cancel first: other bridges do not check the cancel of an accepted entry.
        if (reason !== undefined) await cancelTask(session, taskId, { reason, channel: this.#channel });
        await this.#outbox.together(() =>
          this.#outbox.update(messageId, { state: { type: 'accepted', taskId, sessionId: id } }),
        );
      } finally {
        this.#underway.delete(messageId);
      }
    });
  }

  #failed(session: Session, messageId: string, error: unknown): void {
    const known = error instanceof ProductError ? error : undefined;
    const arrived = known?.facts['arrived'];
    const resumed = this.#resuming.has(messageId);
    // The call got no final answer, so the entry stays. The bridge that adopts it sends the same message (R99).
    if (arrived === 'unresolved' || (resumed && known?.retryable === true)) this.#asking.delete(messageId);
    // An earlier bridge gave out the handle: its client can still ask for the outcome.
    else if (arrived === 'unknown' || resumed)
      this.#outbox.update(messageId, { state: { type: 'lost', message: messageOf(error) } });
    else this.#outbox.drop(messageId);
    if (session.view === undefined) this.#sessions.remove(session);
  }

  #note(session: Session, work: () => Promise<void>): void {
    const before = this.#notes.get(session) ?? Promise.resolve();
    const after = before.then(work).catch((error: unknown) => {
      this.#log.warn({ sessionId: session.id, err: error }, 'the outbox could not be brought up to date');
    });
    this.#notes.set(session, after);
    void after.then(() => this.#notes.get(session) === after && this.#notes.delete(session));
  }

  #entry(agent: Agent, { text, settings, command }: DelegatedWork): OutboxEntry {
    return {
      messageId: randomUUID(),
      agent: agent.name,
      title: titleOf(text),
      text,
      settings,
      ...(command && { command }),
      sessionId: null,
      taskId: null,
      createdAt: new Date().toISOString(),
      state: { type: 'sending' },
      cancel: null,
      answered: false,
    };
  }
}

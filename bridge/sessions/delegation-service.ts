/**
 * Delegating: exactly once (B1). The entry is in the outbox before the message leaves, every attempt sends the same
 * message, and what a bridge that was killed left behind is finished by the next.
 */
import { randomUUID } from 'node:crypto';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Agent } from '../agents/agent.ts';
import type { Registry } from '../agents/registry.ts';
import type { OutboxEntry, Work } from '../state/outbox-entry.ts';
import { titleOf } from './task-title.ts';
import type { Outbox } from '../state/outbox.ts';
import type { OnReceipt } from './answer-receipts.ts';
import { type AskedFor, isSameCall } from './same-call.ts';
import { cancelTask, type CancelEnd } from './cancel-task.ts';
import { findByMessage } from './find-lost-message.ts';
import { delegationMessage } from './delegation-message.ts';
import { asEvent } from '../agents/task-event.ts';
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
  /** Cancelled before their task was known: message id → reason. */
  readonly #cancelled = new Map<string, string>();
  /** Messages the agent has not been heard to have: message id → the session they are for. */
  readonly #onItsWay = new Map<string, Session>();
  /** Messages this process is sending. */
  readonly #underway = new Set<string>();
  /** Delegations of bridges that have ended, being finished: message id → when that is done. */
  readonly #resuming = new Map<string, Promise<void>>();
  /** Stops announcing the result of a session. @returns how to remove the result from the disk. The inbox sets it. */
  stopAnnouncing: (session: Session) => () => void = () => () => undefined;
  /**
   * Calls that wait for their answer, or were sent one that the client has not confirmed: message id → the signal that
   * aborts when the client withdraws the call.
   */
  readonly #asking = new Map<string, AbortSignal>();
  /** Tasks whose results have been handed over, and whose entries are about to be closed. */
  readonly #handingOver = new Set<string>();
  /** Writes to the outbox that nobody waits for, by session. */
  readonly #notes = new Map<Session, Promise<void>>();

  constructor(parts: { registry: Registry; outbox: Outbox; sessions: Sessions; log: Logger }) {
    this.#registry = parts.registry;
    this.#outbox = parts.outbox;
    this.#sessions = parts.sessions;
    this.#log = parts.log;
    this.#sessions.takeUp = (messageId) => this.#takeUp(messageId);
  }

  /** Starts a session with the agent. Resolves when the delegation is on disk and on its way. */
  async start(agent: Agent, work: Work): Promise<Delegation> {
    const entry = this.#entry(agent, work);
    this.#put(entry);
    const session = this.#sessions.add(this.#sessions.open(agent, entry.messageId));
    return { session, messageId: entry.messageId, delivery: this.#sent(session, entry) };
  }

  /** Goes on with a session: its live task gets the message, an ended one is followed by the session's next task. */
  async goOn(session: Session, work: Work): Promise<Delegation> {
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
   * Ends whatever the session is doing: its task, moving or parked, and what is on its way to become one.
   * @throws ProductError when the agent cannot be asked
   */
  async cancel(session: Session, reason: string): Promise<CancelEnd> {
    const later = await this.#cancelOnItsWay(session, reason);
    await session.refresh();
    const { view } = session;
    if (view === undefined || hasEnded(view)) return later ? 'cancelled-when-known' : 'ended-before';
    return cancelTask(session, view.taskId, reason);
  }

  /** The last delegation of that kind whose call was given up by its client, or ended with its bridge. */
  async unanswered(asked: AskedFor): Promise<OutboxEntry | undefined> {
    await this.adopt();
    return this.#outbox.mine().findLast((entry) => isSameCall(entry, asked) && this.#isGivenUp(entry));
  }

  #isGivenUp({ messageId, state }: OutboxEntry): boolean {
    if (state.type === 'accepted' && this.#handingOver.has(state.taskId)) return false;
    return this.#asking.get(messageId)?.aborted !== false;
  }

  /**
   * A call waits for the delegation. Until the client has the answer, the same words mean the same call: the entry says so
   * on disk, so a call that is repeated after a kill joins its task (R99).
   * @returns what records that the client has the answer
   */
  asks(messageId: string, call: AbortSignal): OnReceipt {
    this.#asking.set(messageId, call);
    return () => {
      if (this.#asking.get(messageId) !== call) return;
      try {
        this.#outbox.update(messageId, { answered: true });
        this.#asking.delete(messageId);
      } catch (error) {
        this.#log.warn({ messageId, err: error }, 'a receipt could not be recorded');
      }
    };
  }

  /** The result of the session's task is in an answer. @returns what records that the client has it, and closes the entry */
  handOver(session: Session): OnReceipt {
    const { view } = session;
    if (view === undefined) return () => undefined;
    const { taskId, state } = view;
    const forget = this.stopAnnouncing(session);
    this.#handingOver.add(taskId);
    // An earlier note of the session names the task of the entry.
    return () =>
      this.#note(session, () => {
        forget();
        this.#outbox.collect(taskId, state);
        this.#handingOver.delete(taskId);
        return Promise.resolve();
      });
  }

  /** The client has the result, or can ask for it again under its own name. */
  collect(session: Session): void {
    this.handOver(session)();
  }

  /** Resolves when everything that was to be written is. */
  async settled(): Promise<void> {
    await Promise.all(this.#notes.values());
  }

  /** This process ends: the next bridge need not wait for that to go on with what the agents have. */
  release(): void {
    try {
      this.#outbox.release();
    } catch (error) {
      this.#log.warn({ err: error }, 'the next bridge goes on when this process has ended');
    }
  }

  /** Finishes what bridges that have ended left half done. Failures are logged: nobody is waiting for them. */
  async recover(): Promise<void> {
    await this.adopt();
    await Promise.all([...this.#resuming.values()].map((each) => each.catch(() => undefined)));
  }

  /** Begins to finish what nobody is finishing: what bridges that have ended left, and what failed here before. */
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

  /** Makes sure that a delegation on its way is being sent. @returns its sending, when it is taken up here */
  async #takeUp(messageId: string): Promise<{ done: Promise<void> } | undefined> {
    await this.adopt();
    const done = this.#resuming.get(messageId);
    return done === undefined ? undefined : { done };
  }

  /**
   * Each message whose task the agent has not named yet is cancelled as soon as it does, by whichever bridge. None is called
   * back: nobody could tell whether it had arrived.
   * @returns whether there was any
   */
  async #cancelOnItsWay(session: Session, reason: string): Promise<boolean> {
    const messageIds = [...this.#onItsWay].flatMap(([messageId, of]) =>
      of === session && !(messageId === session.firstMessageId && session.view !== undefined)
        ? [messageId]
        : [],
    );
    // In memory at once, for an answer that comes before it is on disk; on disk for the next bridge.
    for (const messageId of messageIds) this.#cancelled.set(messageId, reason);
    for (const messageId of messageIds) this.#outbox.update(messageId, { cancel: reason });
    return messageIds.length > 0;
  }

  #put(entry: OutboxEntry): void {
    this.#underway.add(entry.messageId);
    // Its call is there, and says in a moment what it is to be told by.
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
    if (agent === undefined) return; // Its agent may be configured again later: the entry stays.
    const connection = await agent.connect();
    const session = this.#sessions.open(agent, messageId);
    if (cancel !== null) this.#cancelled.set(messageId, cancel);
    // What was cancelled is not sent again only to be cancelled.
    if (connection.deduplicates && cancel === null) {
      await this.#send(this.#sessions.add(session), entry);
      return;
    }
    const found = await findByMessage(connection, delegationMessage(entry, connection.dialect));
    if (found !== undefined) {
      this.#sessions.add(session).take(asEvent(found), connection);
      this.#accepted(session, messageId);
      session.follow();
    } else if (cancel !== null) {
      this.#outbox.drop(messageId);
    } else {
      const message = `Whether agent "${agent.name}" got this is not known: the bridge ended while it was sent. Look at the agent before you delegate it again.`;
      this.#outbox.update(messageId, { state: { type: 'lost', message } });
    }
  }

  /** For a caller who may be gone before it fails: what became of it is in the outbox by then. */
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
    // Such an agent may not even be able to list its tasks: the handle must not be lost once it has been given out.
    if (!deduplicates) await this.#notes.get(session);
  }

  /** The agent has named the task. Should the note of it be lost, the message is sent or looked for once more. */
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
        // First the cancel: with the entry noted as accepted, no other bridge would look whether it was to be cancelled.
        if (reason !== undefined) await cancelTask(session, taskId, reason);
        this.#outbox.update(messageId, { state: { type: 'accepted', taskId, sessionId: id } });
      } finally {
        this.#underway.delete(messageId);
      }
    });
  }

  #failed(session: Session, messageId: string, error: unknown): void {
    const known = error instanceof ProductError ? error : undefined;
    const arrived = known?.facts['arrived'];
    const resumed = this.#resuming.has(messageId);
    // Its call got no answer that settles it. The entry stays: whoever adopts it sends the same message and finds out (R99).
    if (arrived === 'unresolved' || (resumed && known?.retryable === true)) this.#asking.delete(messageId);
    // An earlier bridge gave out the handle: its owner can still ask what became of it.
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

  #entry(agent: Agent, { text, settings, command }: Work): OutboxEntry {
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

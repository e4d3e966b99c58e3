/**
 * One session with one agent: the view of its current task, and the listeners for its changes.
 *
 * Invariants
 * - The view changes only by folding (S1).
 * - A stream belongs to the session, not to the call that opened it. A call that goes away stops nothing (E4).
 * - A message is sent again only if it cannot have arrived, or if the agent de-duplicates (B1).
 */
import type { Message, StreamResponse } from '@a2a-js/sdk';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Activity, PendingAction } from '../../shared/protocol/tool-approval.ts';
import type { Agent } from '../agents/agent.ts';
import type { A2aConnection } from '../agents/connection.ts';
import { asStreamResponse } from '../agents/task-event.ts';
import type { Asked, Dialect } from '../dialects/dialect.ts';
import type { FileProposal } from '../dialects/proposal.ts';
import { BACK_OFF, type BackOff } from '../../shared/runtime/back-off.ts';
import type { DecisionClaims } from '../state/decision-claims.ts';
import { outdatedCall } from './outdated-call.ts';
import { type Begun, send } from './send-message.ts';
import { SentDecisions } from './sent-decisions.ts';
import { type Step, RecentActivity } from './recent-activity.ts';
import { TaskReader } from './task-reader.ts';
import { fold, hasEnded, hasSettled, isInterrupted, type TaskView } from './task-view.ts';

/** A change of the session. */
export type SessionChange = { type: 'view' } | { type: 'activity'; activity: Activity } | { type: 'trouble' };
export type Listener = (change: SessionChange) => void;

/** The polling interval for a watched task that waits, in milliseconds, if the agent closes its streams then. */
const LOOK_MS = 5_000;

/** Observations that the bridge makes, not the agent. */
type OwnObservation =
  | { type: 'decided'; callIds: readonly string[] }
  | { type: 'outdated'; action: PendingAction; file: FileProposal };

const NO_FILES = (): Promise<undefined> => Promise.resolve(undefined);

export interface SessionParts {
  /** The decisions of all bridges, for agents that must get each decision only once. */
  claims: DecisionClaims;
  backOff?: BackOff;
  /** As `ReadFile`. @param url of the agent */
  readFile?: (session: Session, url: string, path: string) => Promise<string | undefined>;
}

export class Session {
  readonly agent: Agent;
  /** The message that began the session here. It is the handle until the agent names the session. */
  readonly firstMessageId: string;
  #view: TaskView | undefined;
  #changedAt = new Date();
  #trouble: ProductError | undefined;
  #refusal: ProductError | undefined;
  readonly #listeners = new Set<Listener>();
  /** Answered questions: the agent may repeat them before it continues. */
  readonly #answered = new Set<string>();
  readonly #decisions: SentDecisions;
  #notes: readonly string[] = [];
  readonly #end = new AbortController();
  readonly #steps = new RecentActivity();
  #told = 0;
  /** The last stream ended by itself, in a state that ends streams. */
  #rested = false;
  /** How many callers follow the task also while it waits. */
  #watchers = 0;
  /** The agent keeps its streams open while a task waits. */
  #staysOpen = false;
  #oneByOne = false;
  #looking: Promise<void> | undefined;
  readonly #reader: TaskReader;
  readonly #backOff: BackOff;
  readonly #readFile: NonNullable<SessionParts['readFile']>;

  constructor(
    agent: Agent,
    firstMessageId: string,
    { claims, backOff = BACK_OFF, readFile = NO_FILES }: SessionParts,
  ) {
    this.agent = agent;
    this.firstMessageId = firstMessageId;
    this.#backOff = backOff;
    this.#readFile = readFile;
    this.#decisions = new SentDecisions(claims);
    this.#reader = new TaskReader({
      agent,
      backOff,
      signal: this.#end.signal,
      view: () => this.#view,
      enough: () => !this.#wanted(),
      take: (event, connection) => this.#fold(event, connection),
      rested: () => this.#rest(),
      over: (trouble) => this.#readingIsOver(trouble),
    });
  }

  get view(): TaskView | undefined {
    return this.#view;
  }

  /** The handle: the agent's id for the session, or the id of the first message. */
  get id(): string {
    const named = this.#view?.sessionId ?? '';
    return named === '' ? this.firstMessageId : named;
  }

  /** When this bridge last received a change. */
  get changedAt(): Date {
    return this.#changedAt;
  }

  /** Why the bridge cannot follow the task now. */
  get trouble(): ProductError | undefined {
    return this.#trouble;
  }

  /** Why the first message failed. There is then no session. */
  get refusal(): ProductError | undefined {
    return this.#refusal;
  }

  /** A stream keeps the view up to date. */
  get live(): boolean {
    return this.#reader.live;
  }

  /** The task does not continue until a person acts, or it has ended. */
  get settled(): boolean {
    const view = this.#view;
    return view !== undefined && (hasSettled(view, this.#answered) || (this.#rested && isInterrupted(view)));
  }

  /** The agent's `seq` if it has one, else a count of this bridge. */
  get cursor(): number {
    return this.#view?.seq ?? this.#told;
  }

  /** The last steps that this bridge saw, oldest first. */
  get steps(): readonly Step[] {
    return this.#steps.kept;
  }

  /** As a dialect's `asksOneByOne`. */
  get oneByOne(): boolean {
    return this.#oneByOne;
  }

  get asked(): Asked {
    return { pending: this.#view?.pending ?? [], question: this.#view?.question ?? null };
  }

  /** Notes for the person, shown with the next reply. */
  leaveNotes(notes: readonly string[]): void {
    this.#notes = [...this.#notes, ...notes];
  }

  takeNotes(): readonly string[] {
    const notes = this.#notes;
    this.#notes = [];
    return notes;
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Sends a message. Resolves when the agent begins to answer, and so has the message. The session reads the rest of
   * the answer by itself.
   * @param write makes the message; the same one each time, because it may be sent again
   * @throws ProductError when the message was refused; the fact `arrived` says more (see `send-message.ts`)
   */
  async deliver(write: (dialect: Dialect) => Message, options: { answers?: string } = {}): Promise<void> {
    const { answers } = options;
    if (answers !== undefined) this.#answered.add(answers);
    this.#trouble = undefined;
    this.#rested = false;
    let messageId = '';
    let decided: readonly string[] = [];
    try {
      const begun = await send({
        agent: this.agent,
        write: async (connection) => {
          const message = write(connection.dialect);
          messageId = message.messageId;
          await this.#checkFiles(message, connection);
          decided = await this.#claim(message, connection);
          return message;
        },
        backOff: this.#backOff,
        signal: this.#end.signal,
      });
      this.#decided(decided);
      this.#begin(begun);
    } catch (error) {
      if (answers !== undefined) this.#answered.delete(answers);
      const arrived = error instanceof ProductError ? error.facts['arrived'] : undefined;
      await this.#decisions.failed(messageId, arrived === 'no' ? 'no' : 'unknown');
      if (this.#view === undefined && error instanceof ProductError) {
        this.#refusal = error;
        this.#tell({ type: 'trouble' });
      }
      throw error;
    }
  }

  /** Folds in a task from an answer of the agent. */
  take(event: StreamResponse, connection: A2aConnection): void {
    this.#fold(event, connection);
  }

  /** Updates the view if no stream does, and follows a task that moves. @throws ProductError */
  async refresh(): Promise<void> {
    const view = this.#view;
    if (this.live || view === undefined || hasEnded(view)) return;
    await this.look();
    this.follow();
  }

  /** The last call of `look`, while the agent has not answered it. */
  get looking(): Promise<void> | undefined {
    return this.#looking;
  }

  /** Fetches the task from the agent. @throws ProductError */
  async look(taskId = this.#view?.taskId ?? ''): Promise<void> {
    // Without a `seq`, the bridge cannot tell which events of the stream the answer already includes.
    if (taskId === '' || (this.live && this.#view?.seq === null)) return;
    const looking = this.#fetch(taskId);
    this.#looking = looking;
    try {
      await looking;
    } finally {
      if (this.#looking === looking) this.#looking = undefined;
    }
  }

  async #fetch(taskId: string): Promise<void> {
    await this.agent.ask(async (connection) =>
      this.#fold(asStreamResponse(await connection.task(taskId)), connection),
    );
    await this.#decisions.looked();
  }

  /** Makes sure that a stream is open for a task that moves. */
  follow(): void {
    const view = this.#view;
    if (this.live || view === undefined || view.taskId === '' || !this.#wanted()) return;
    this.#trouble = undefined;
    this.#reader.open(view.taskId);
  }

  /**
   * Keeps the view up to date also while the task waits: over its stream if it stays open, else by polling. @returns
   * how to stop
   */
  watch(): () => void {
    this.#watchers += 1;
    this.follow();
    const looks = setInterval(() => void this.refresh().catch(() => undefined), LOOK_MS);
    looks.unref();
    let over = false;
    return () => {
      if (over) return;
      over = true;
      clearInterval(looks);
      this.#watchers -= 1;
      // A parked task without watchers costs nothing.
      if (!this.#wanted()) this.#reader.close();
    };
  }

  /** Closes the streams. The task continues. */
  close(): void {
    this.#end.abort();
    this.#listeners.clear();
  }

  /**
   * For agents that do not compare a file with what the person saw (D2). A call whose file has changed is shown
   * again, against the current content.
   * @throws ProductError INPUT_CHANGED; nothing is sent
   */
  async #checkFiles({ parts }: Message, { url, dialect: { hazards } }: A2aConnection): Promise<void> {
    const approved = hazards.approvedBy?.(parts) ?? [];
    if (this.#view === undefined || approved.length === 0) return;
    const found = await outdatedCall(approved, this.#view, (path) => this.#readFile(this, url, path));
    if (found === undefined) return;
    this.#observe({ type: 'outdated', ...found });
    this.#tell({ type: 'view' });
    const { callId } = found.action;
    throw new ProductError(
      'INPUT_CHANGED',
      `"${found.file.path}" has changed since the change to it was shown; nothing was sent. Show the person the change to the file as it is now (wait_for_task), and decide again.`,
      { facts: { callId, path: found.file.path } },
    );
  }

  /**
   * For agents that would run a call once per approval: only one approval is sent.
   * @returns the calls that the message decides
   * @throws ProductError ALREADY_DECIDED
   */
  async #claim(
    { messageId, taskId, parts }: Message,
    { url, dialect: { hazards } }: A2aConnection,
  ): Promise<readonly string[]> {
    const decided = hazards.decidedBy?.(parts) ?? [];
    const { pending } = this.asked;
    const calls = decided.map((callId) => {
      const action = pending.find((each) => each.callId === callId);
      // One decision per question of the agent, whatever each bridge has shown of it.
      const asked = this.#view?.proposals?.get(callId)?.code;
      return { callId, shown: action && (asked ?? action.shown) };
    });
    await this.#decisions.claim(messageId, calls, { agent: url, taskId });
    return decided;
  }

  /** Such an agent does not report a decision; it only stops asking. */
  #decided(callIds: readonly string[]): void {
    if (callIds.length > 0) this.#observe({ type: 'decided', callIds });
  }

  /** Folds in an observation of the bridge. */
  #observe(known: OwnObservation): void {
    const view = this.#view;
    if (view === undefined) return;
    const { taskId, sessionId } = view;
    this.#view = fold(view, { seq: null, observations: [{ ...known, taskId, sessionId }] });
  }

  /** The agent has the message: from now on its newest stream folds. */
  #begin(begun: Begun): void {
    if (begun.type === 'found') {
      this.#fold(asStreamResponse(begun.task), begun.connection);
      this.follow();
      return;
    }
    this.#reader.begin(begun.first, begun.rest, begun.connection);
  }

  /** Whether the bridge needs a stream of this task. */
  #wanted(): boolean {
    if (this.#view !== undefined && hasEnded(this.#view)) return false;
    return !this.settled || (this.#watchers > 0 && this.#staysOpen);
  }

  #readingIsOver(trouble: ProductError | undefined): void {
    if (trouble === undefined) return this.follow();
    this.#trouble = trouble;
    this.#tell({ type: 'trouble' });
  }

  /** The stream ended by itself. A state that ends streams is then final, even if it does not say what it waits for. */
  #rest(): void {
    this.#rested = true;
    if (this.settled) this.#tell({ type: 'view' });
  }

  #fold(event: StreamResponse, connection: A2aConnection): void {
    this.#staysOpen = connection.staysOpen;
    this.#oneByOne = connection.dialect.asksOneByOne === true;
    const observed = connection.dialect.read(event);
    const before = this.#view;
    this.#view = fold(before, observed);
    if (this.#view === before) return;
    this.#rested = false;
    this.#changedAt = new Date();
    this.#told += 1;
    const { observations } = observed;
    this.#steps.note(observations, { before: before?.state, after: this.#view?.state }, this.cursor);
    for (const each of observations)
      if (each.type === 'activity') this.#tell({ type: 'activity', activity: each.activity });
    this.#tell({ type: 'view' });
  }

  #tell(change: SessionChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

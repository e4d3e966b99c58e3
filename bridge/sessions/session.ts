/**
 * One session with one agent: what is known of its current task, and the stream that keeps it known.
 *
 * Invariants
 * - The view changes by folding alone. At any moment one stream folds: the newest that has delivered anything (S1).
 * - A stream belongs to the session, never to the call that opened it: a call that goes away stops nothing (E4).
 * - A message is sent again only where sending again is safe: it cannot have arrived, or the agent de-duplicates (B1).
 */
import type { Message, StreamResponse } from '@a2a-js/sdk';
import pRetry, { AbortError } from 'p-retry';
import { ProductError } from '../../shared/errors.ts';
import type { Activity } from '../../shared/protocol/tool-approval.ts';
import type { Agent } from '../agents/agent.ts';
import type { Connection } from '../agents/connection.ts';
import { asEvent } from '../agents/task-event.ts';
import type { Asked, Dialect } from '../dialects/dialect.ts';
import type { Observed, TaskStateName } from '../dialects/observation.ts';
import { activityWords } from '../results/activity-words.ts';
import { toMcpState } from '../results/session-report.ts';
import { BACK_OFF, type BackOff } from './back-off.ts';
import { type Begun, send } from './sending.ts';
import { SentDecisions } from './sent-decisions.ts';
import { fold, hasEnded, hasSettled, isInterrupted, type TaskView } from './view.ts';

/** What happened, and the cursor after it. */
export interface Step {
  cursor: number;
  words: string;
}

/** Something about the session is new. */
export type Change = { type: 'view' } | { type: 'activity'; activity: Activity } | { type: 'trouble' };
export type Listener = (change: Change) => void;

/** A stream that lived this long, or brought anything new, was sound: the next cut is counted afresh. One that never began was not. */
const STEADY_MS = 5_000;
const KEPT_STEPS = 100;

export class Session {
  readonly agent: Agent;
  /** The message that began it here; a handle for it while the agent has not named the session. */
  readonly firstMessageId: string;
  #view: TaskView | undefined;
  #changedAt = new Date();
  #trouble: ProductError | undefined;
  #refusal: ProductError | undefined;
  readonly #listeners = new Set<Listener>();
  /** Questions that were answered: the agent may repeat them before it goes on. */
  readonly #answered = new Set<string>();
  /** The input hash of each pending action as a person was shown it (D2). */
  readonly #shown = new Map<string, string>();
  readonly #decisions = new SentDecisions();
  #notes: readonly string[] = [];
  readonly #end = new AbortController();
  #streams = 0;
  #steps: readonly Step[] = [];
  #told = 0;
  /** The stream that folds. */
  #folding = 0;
  /** The folding stream is being read, or waits to be opened again. */
  #live = false;
  /** The last stream ended by itself with the task in a state that ends streams. */
  #rested = false;

  readonly #backOff: BackOff;

  constructor(agent: Agent, firstMessageId: string, backOff: BackOff = BACK_OFF) {
    this.agent = agent;
    this.firstMessageId = firstMessageId;
    this.#backOff = backOff;
  }

  get view(): TaskView | undefined {
    return this.#view;
  }

  /** The handle: the agent's name for the session, or else the message that began it. */
  get id(): string {
    const named = this.#view?.sessionId ?? '';
    return named === '' ? this.firstMessageId : named;
  }

  /** When this bridge last learned something new of the task. */
  get changedAt(): Date {
    return this.#changedAt;
  }

  /** Why the task cannot be followed at the moment. */
  get trouble(): ProductError | undefined {
    return this.#trouble;
  }

  /** Why the message that was to begin the session did not: there is none. */
  get refusal(): ProductError | undefined {
    return this.#refusal;
  }

  /** A stream keeps the view up to date. */
  get live(): boolean {
    return this.#live;
  }

  /** Nothing more comes until somebody does something. */
  get settled(): boolean {
    const view = this.#view;
    return view !== undefined && (hasSettled(view, this.#answered) || (this.#rested && isInterrupted(view)));
  }

  /** A place in what happened: the agent's own where it has one, else a count of this bridge's. */
  get cursor(): number {
    return this.#view?.seq ?? this.#told;
  }

  /** The last things that happened while this bridge was looking, oldest first. */
  get steps(): readonly Step[] {
    return this.#steps;
  }

  get asked(): Asked {
    return { pending: this.#view?.pending ?? [], question: this.#view?.question ?? null };
  }

  /** What the person should know with the next reply, and has not been told. */
  leaveNotes(notes: readonly string[]): void {
    this.#notes = [...this.#notes, ...notes];
  }

  takeNotes(): readonly string[] {
    const notes = this.#notes;
    this.#notes = [];
    return notes;
  }

  /** Notes what a person has been shown of the pending actions. */
  markShown(): void {
    for (const { callId, inputHash } of this.#view?.pending ?? []) this.#shown.set(callId, inputHash);
  }

  shownHash(callId: string): string | undefined {
    const pending = this.#view?.pending.find((action) => action.callId === callId);
    return this.#shown.get(callId) ?? pending?.inputHash;
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Sends a message. Resolves when the agent has begun to answer: it then has the message; the rest of the answer is
   * read on its own.
   * @param write makes the message; the same one each time, as it may be sent again
   * @throws ProductError when it was refused; with the fact `arrived: unknown` when nobody knows whether it arrived
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
        write: (dialect) => {
          const message = write(dialect);
          decided = this.#claim(message, dialect);
          messageId = message.messageId;
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
      this.#decisions.failed(messageId, arrived === 'no' ? 'no' : 'unknown');
      if (this.#view === undefined && error instanceof ProductError) {
        this.#refusal = error;
        this.#tell({ type: 'trouble' });
      }
      throw error;
    }
  }

  /** Takes in the task as an answer of the agent's showed it. */
  take(event: StreamResponse, connection: Connection): void {
    this.#fold(event, connection);
  }

  /** Brings the view up to date when no stream keeps it so, and follows a task that moves. @throws ProductError */
  async refresh(): Promise<void> {
    const view = this.#view;
    if (this.#live || view === undefined || hasEnded(view)) return;
    await this.look();
    this.follow();
  }

  /** Asks the agent for the task as it is, whatever is known of it. @throws ProductError */
  async look(taskId = this.#view?.taskId ?? ''): Promise<void> {
    // Without a place in the journal, events still on their way could not be told from those the answer holds already.
    if (taskId === '' || (this.#live && this.#view?.seq === null)) return;
    await this.agent.ask(async (connection) =>
      this.#fold(asEvent(await connection.task(taskId)), connection),
    );
    this.#decisions.looked();
  }

  /** Makes sure a task that moves is being read. */
  follow(): void {
    const view = this.#view;
    if (this.#live || view === undefined || view.taskId === '' || hasEnded(view) || this.settled) return;
    const stream = ++this.#streams;
    this.#folding = stream;
    this.#live = true;
    this.#trouble = undefined;
    void this.#keepReading(stream, view.taskId);
  }

  /** The bridge goes: the streams are let go of, the task is not touched. */
  close(): void {
    this.#end.abort();
    this.#listeners.clear();
  }

  /**
   * Of agents that would run a call for each approval, only one leaves.
   * @returns the calls it decides @throws ProductError ALREADY_DECIDED
   */
  #claim({ messageId, parts }: Message, { hazards }: Dialect): readonly string[] {
    const decided = hazards.decidedBy?.(parts) ?? [];
    const { pending } = this.asked;
    this.#decisions.claim(
      messageId,
      decided.map((callId) => ({
        callId,
        inputHash: pending.find((action) => action.callId === callId)?.inputHash,
      })),
    );
    return decided;
  }

  /** Such an agent does not say that a call has been decided: it only stops asking. */
  #decided(callIds: readonly string[]): void {
    const view = this.#view;
    if (view === undefined || callIds.length === 0) return;
    const { taskId, sessionId } = view;
    this.#view = fold(view, {
      seq: null,
      observations: [{ type: 'decided', taskId, sessionId, callIds }],
    });
  }

  /** The agent has the message: from here on its newest stream is the one that folds. */
  #begin(begun: Begun): void {
    if (begun.type === 'found') {
      this.#fold(asEvent(begun.task), begun.connection);
      this.follow();
      return;
    }
    const stream = ++this.#streams;
    this.#folding = stream;
    this.#live = true;
    this.#fold(begun.first, begun.connection);
    void this.#readOn(stream, begun.rest, begun.connection);
  }

  /** Reads the rest of a stream that has begun. */
  async #readOn(
    stream: number,
    events: AsyncIterator<StreamResponse>,
    connection: Connection,
  ): Promise<void> {
    let sound = true;
    try {
      for (let next = await events.next(); next.done !== true; next = await events.next()) {
        if (this.#folding === stream) this.#fold(next.value, connection);
      }
    } catch {
      // A cut is no news to anybody: the stream is taken up again below, from the last event that was read.
      sound = false;
    }
    if (this.#folding !== stream) return;
    this.#live = false;
    if (sound) this.#rest();
    this.follow();
  }

  /** Opens the task's stream again and again until it has settled, or the back-off is used up. */
  async #keepReading(stream: number, taskId: string): Promise<void> {
    try {
      await pRetry(() => this.#readAgain(stream, taskId), {
        ...this.#backOff,
        signal: this.#end.signal,
      });
    } catch (thrown) {
      if (this.#folding !== stream || this.#end.signal.aborted) return;
      this.#live = false;
      this.#trouble = this.agent.failed(thrown);
      this.#tell({ type: 'trouble' });
      return;
    }
    if (this.#folding !== stream) return;
    this.#live = false;
    this.follow();
  }

  async #readAgain(stream: number, taskId: string): Promise<void> {
    for (;;) {
      const since = performance.now();
      const from = this.#view?.seq ?? null;
      let cut: ProductError | undefined;
      try {
        await this.#readOnce(stream, taskId);
        if (this.#folding === stream) this.#rest();
      } catch (thrown) {
        cut = this.agent.failed(thrown);
        // The agent has spoken: asking the same again would hear the same.
        if (!cut.retryable && cut.reason !== 'AGENT_ERROR') throw new AbortError(cut);
      }
      if (this.#folding !== stream || this.settled) return;
      const silent = cut?.facts['trouble'] === 'timeout';
      const sound = !silent && (performance.now() - since >= STEADY_MS || (this.#view?.seq ?? null) !== from);
      if (!sound) throw cut ?? this.#endsEarly();
    }
  }

  async #readOnce(stream: number, taskId: string): Promise<void> {
    const connection = await this.agent.connect();
    await connection.follow({
      taskId,
      after: this.#view?.taskId === taskId ? this.#view.seq : null,
      signal: this.#end.signal,
      onEvent: (event) => {
        if (this.#folding !== stream) return 'enough';
        this.#fold(event, connection);
        return this.settled ? 'enough' : 'more';
      },
    });
  }

  #endsEarly(): ProductError {
    return new ProductError(
      'AGENT_UNREACHABLE',
      `Agent "${this.agent.name}" ends the task's stream before the task has settled.`,
    );
  }

  /** The stream ended by itself: a state that ends streams is then to be believed, whatever it says it waits for. */
  #rest(): void {
    this.#rested = true;
    if (this.settled) this.#tell({ type: 'view' });
  }

  #fold(event: StreamResponse, connection: Connection): void {
    const observed = connection.dialect.read(event);
    const before = this.#view;
    this.#view = fold(before, observed);
    if (this.#view === before) return;
    this.#rested = false;
    this.#changedAt = new Date();
    this.#told += 1;
    this.#note(before?.state, observed);
    this.#tell({ type: 'view' });
  }

  #note(before: TaskStateName | undefined, { observations }: Observed): void {
    const words: string[] = [];
    for (const observation of observations) {
      if (observation.type !== 'activity') continue;
      const said = activityWords(observation.activity);
      if (said !== undefined) words.push(said);
      this.#tell({ type: 'activity', activity: observation.activity });
    }
    const state = this.#view?.state;
    if (state !== undefined && (before === undefined || toMcpState(state) !== toMcpState(before)))
      words.push(toMcpState(state));
    const { cursor } = this;
    this.#steps = [...this.#steps, ...words.map((each) => ({ cursor, words: each }))].slice(-KEPT_STEPS);
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}

/**
 * One session with one agent: its state, and the listeners for changes. `session-state.ts` computes the state,
 * `message-sender.ts` sends the messages, and `task-stream-reader.ts` reads the streams.
 *
 * Invariants
 * - S1: no event is lost or repeated. So the state changes only through `nextSessionState`, which ignores repeated
 *   events.
 * - E4: a lost connection stops no task. A stream belongs to the session, not to the tool call that opened it, so the
 *   end of a tool call stops nothing.
 */
import type { StreamResponse } from '@a2a-js/sdk';
import { DEFAULT_BACK_OFF, type BackOffOptions } from '../../../shared/runtime/back-off.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { ToolCallEvent } from '../../../shared/protocol/tool-approval.ts';
import type { Agent } from '../../agents/agent.ts';
import type { A2aConnection } from '../../agents/connection.ts';
import { taskAsStreamResponse } from '../../agents/task-as-stream-response.ts';
import type { PendingInput, PersonDecision } from '../../dialects/dialect.ts';
import type { DecisionChannel } from '../../settings/approval-mode.ts';
import type { SessionStateName } from '../../dialects/observation.ts';
import type { DecisionClaims } from '../../state/decision-claims.ts';
import { SentDecisions } from './claim-decisions.ts';
import { type DeliveryOptions, MessageSender, type BuildMessage } from './message-sender.ts';
import type { AcknowledgedMessage } from './send-message.ts';
import {
  bridgeObservation,
  NEW_SESSION,
  nextSessionState,
  type SessionEvent,
  type SessionState,
  shownTaskView,
  sessionStateName,
  type SessionTaskState,
  sessionTaskStateOf,
} from './session-state.ts';
import { RecentActivity } from './recent-activity.ts';
import { type TaskStreamChange, TaskStreamReader } from './task-stream-reader.ts';
import type { TaskView } from './observed-task.ts';

/** Decisions that this bridge has sent to the agent. `problem` says why the agent did not accept them. */
export interface DecisionsSentEvent {
  decisions: readonly PersonDecision[];
  channel: DecisionChannel;
  problem?: string;
}

type SessionChange =
  | { type: 'state' }
  | { type: 'activity'; activity: ToolCallEvent }
  | { type: 'stream'; change: TaskStreamChange }
  | { type: 'decisions-sent'; sent: DecisionsSentEvent }
  | { type: 'handed-over'; view: TaskView };
type Listener = (change: SessionChange) => void;

/** The polling interval in milliseconds, for a task that waits and whose agent closes the streams of such tasks. */
const POLL_MS = 5_000;

const OLDER_STATE_NOTE =
  'The agent has an older state of this task than before, perhaps because a backup of its server was restored. This is the older state. What happened after it may have to be decided again.';

const NO_FILES = (): Promise<undefined> => Promise.resolve(undefined);

interface SessionParts {
  /** Records the decisions of all bridges, because some agents must receive each decision only once. */
  claims: Pick<DecisionClaims, 'take' | 'release'>;
  backOff?: BackOffOptions;
  /**
   * Reads a file that the agent names. Returns the same values as `ReadFile` (`outdated-diff.ts`).
   * @param url the URL of the agent
   */
  readFile?: (session: Session, url: string, path: string) => Promise<string | undefined>;
}

export class Session {
  readonly agent: Agent;
  /**
   * The id of the message that starts the session. For an existing session, the id that a caller gave. This is also the
   * id of the session until the agent has sent one.
   */
  readonly firstMessageId: string;
  /** The last steps of the task, for a status. */
  readonly activity = new RecentActivity();
  #state: SessionState = NEW_SESSION;
  /** The connection over which the last event came. */
  #connection: A2aConnection | undefined;
  #notes: readonly string[] = [];
  /** The number of callers that need a current view while the task waits. */
  #watchers = 0;
  /** The open request for the task to the agent. Undefined if no request is open. */
  #openFetch: Promise<void> | undefined;
  readonly #listeners = new Set<Listener>();
  readonly #end = new AbortController();
  readonly #decisions: SentDecisions;
  readonly #reader: TaskStreamReader;
  readonly #sender: MessageSender;

  constructor(
    agent: Agent,
    firstMessageId: string,
    { claims, backOff = DEFAULT_BACK_OFF, readFile = NO_FILES }: SessionParts,
  ) {
    this.agent = agent;
    this.firstMessageId = firstMessageId;
    this.#decisions = new SentDecisions(claims);
    this.#reader = new TaskStreamReader({
      agent,
      backOff,
      signal: this.#end.signal,
      view: () => this.view,
      enough: () => !this.#needsStream(),
      applyEvent: (event, connection) => this.applyEvent(event, connection),
      streamEnded: () => this.#handleStreamEnd(),
      streamed: (change) => this.#callListeners({ type: 'stream', change }),
      over: (error) => this.#handleReadingEnd(error),
    });
    this.#sender = new MessageSender({
      agent,
      decisions: this.#decisions,
      backOff,
      signal: this.#end.signal,
      task: () => this.#task,
      readFile: (url, path) => readFile(this, url, path),
      change: (event) => this.#applyAndCompare(event),
      apply: (event) => this.#apply(event),
      begin: (acknowledged) => this.#beginResponse(acknowledged),
    });
  }

  get state(): SessionState {
    return this.#state;
  }

  get stateName(): SessionStateName {
    return sessionStateName(this.#state);
  }

  /**
   * The view of the session's last task, as people see it (`shownTaskView`). Undefined before the agent has sent a task id.
   */
  get view(): TaskView | undefined {
    const task = this.#task;
    return task === null ? undefined : shownTaskView(task);
  }

  /** The session's id. The agent assigns it. Until then, this is the id of the session's first message. */
  get id(): string {
    const named = this.view?.sessionId ?? '';
    return named === '' ? this.firstMessageId : named;
  }

  /** Why the bridge cannot follow the task at the moment. Undefined if it can. */
  get streamProblem(): ProductError | undefined {
    return (this.#task?.type === 'working' && this.#task.streamProblem) || undefined;
  }

  /** Why the agent has not acknowledged the message that the bridge is sending. Undefined if no attempt has failed. */
  get sendingProblem(): string | undefined {
    return this.#sender.problem;
  }

  /** True while an open stream keeps the view current. */
  get hasStream(): boolean {
    return this.#reader.isReading;
  }

  /** True if the task waits for a person, has ended, or is unknown to the agent. */
  get settled(): boolean {
    return this.#state.type !== 'not-delivered' && this.#state.type !== 'working';
  }

  /** True if the task has ended, or the agent no longer knows the task. */
  get over(): boolean {
    return this.#state.type === 'ended' || this.#state.type === 'unknown-to-agent';
  }

  /** True if the message was not delivered, and the bridge does not try again. */
  get givenUp(): boolean {
    return this.#state.type === 'not-delivered' && this.#state.delivery.type === 'given-up';
  }

  /** The `seq` of the agent's last event. If the agent sends none, the number of events that have changed the state. */
  get cursor(): number {
    return this.view?.seq ?? this.activity.changes;
  }

  /** Returns the steps of the current task after a cursor (`RecentActivity.since`). */
  changesSince(cursor: number | undefined): ReturnType<RecentActivity['since']> {
    return this.activity.since(cursor, { cursor: this.cursor, seq: this.view?.seq ?? null });
  }

  /**
   * True if an approved call runs before the agent asks about the next call of the turn: `asksOneByOne` of the dialect.
   */
  get asksOneByOne(): boolean {
    return this.#connection?.dialect.asksOneByOne === true;
  }

  get pendingInput(): PendingInput {
    return pendingInputOf(this.view);
  }

  /** What the agent has asked last. An answer to it may be on its way. */
  get lastPendingInput(): PendingInput {
    return pendingInputOf(this.#reportedView);
  }

  /** Stores notes for the person. The next reply about this session contains them. */
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
   * Sends a message. Resolves when the agent begins its response, because the agent then has the message. The session
   * reads the rest of the response later.
   * @throws ProductError ALREADY_DECIDED if an answer to the question is on its way. Other errors if the agent refuses
   * the message; the fact `arrived` says whether the message has arrived (see `send-message.ts`).
   */
  deliver(write: BuildMessage, options: DeliveryOptions = {}): Promise<void> {
    return this.#sender.send(write, options);
  }

  /** Records that the message stays in the outbox, and when the next attempt starts. */
  postpone(reason: string, nextTry: Date): void {
    this.#apply({ type: 'postponed', delivery: { type: 'retrying', reason, nextTry, mayHaveArrived: true } });
  }

  /** Records that a postponed message will not be sent again. The session returns to its earlier task. */
  drop(): void {
    this.#apply({ type: 'dropped' });
  }

  /** Records that an earlier bridge could not deliver the message. */
  giveUp(error: ProductError): void {
    this.#apply({ type: 'delivery', delivery: { type: 'given-up', error } });
  }

  /** Records that the agent does not know a task that an earlier bridge followed. */
  forget(task: { taskId: string; sessionId: string }, error: ProductError): void {
    this.#applyAndCompare(bridgeObservation({ type: 'moving', text: null }, task));
    this.#apply({ type: 'forgotten', error });
  }

  /** Records that the client has the result, or receives it with the current reply. */
  handOver(): void {
    const task = this.#task;
    if (task?.type !== 'ended' || task.result === 'handed-over') return;
    this.#state = nextSessionState(this.#state, { type: 'handed-over' });
    this.#callListeners({ type: 'handed-over', view: task.view });
  }

  /** Tells the listeners that this bridge has sent decisions, or could not send them. */
  reportDecisionsSent(sent: DecisionsSentEvent): void {
    this.#callListeners({ type: 'decisions-sent', sent });
  }

  /**
   * Applies an event of the agent to the state.
   * @param requested the view when the bridge requested this event; undefined if the agent sent it in a stream
   */
  applyEvent(event: StreamResponse, connection: A2aConnection, requested?: TaskView): void {
    this.#connection = connection;
    const before = this.#reportedView;
    const observed = connection.dialect.read(event);
    const replaces = isRestoredFromBackup(requested, before, observed.seq);
    if (!this.#applyAndCompare({ type: 'observed', observed, replaces })) return;
    if (replaces) this.leaveNotes([OLDER_STATE_NOTE]);
    if (before !== undefined && before.taskId !== this.#reportedView?.taskId) this.activity.beginTask();
    if (requested !== undefined && observed.seq !== null && observed.seq !== before?.seq)
      this.activity.noteGap(observed.seq);
    const states = { before: before?.state, after: this.#reportedView?.state };
    this.activity.note(observed.observations, states, () => this.cursor);
    for (const each of observed.observations)
      if (each.type === 'activity') this.#callListeners({ type: 'activity', activity: each.activity });
    this.#callListeners({ type: 'state' });
  }

  /**
   * Updates the view, unless a stream keeps it current. If the task works, also opens a stream.
   * @throws ProductError
   */
  async refresh(): Promise<void> {
    if (this.hasStream || this.view === undefined || this.#task?.type === 'ended') return;
    await this.fetchTask();
    this.follow();
  }

  /**
   * Requests the task from the agent.
   * @throws ProductError UNKNOWN_TASK if the agent does not know the task. The state is `unknown-to-agent` then.
   */
  async fetchTask(taskId = this.view?.taskId ?? ''): Promise<void> {
    // If the agent sends no `seq`, the fetched task may contain events that the stream delivers again. So the task is
    // not fetched while a stream is open.
    if (taskId === '' || (this.hasStream && this.view?.seq === null)) return;
    const looking = this.#fetch(taskId);
    this.#openFetch = looking;
    try {
      await looking;
    } finally {
      if (this.#openFetch === looking) this.#openFetch = undefined;
    }
  }

  async #fetch(taskId: string): Promise<void> {
    const before = this.#reportedView;
    const looked = this.#decisions.beforeTaskRequest();
    try {
      await this.agent.ask(async (connection) => {
        const task = await connection.task(taskId);
        if (this.#isOutdated(taskId, before)) return;
        const requested = before?.taskId === taskId ? before : undefined;
        this.applyEvent(taskAsStreamResponse(task), connection, requested);
      });
    } catch (error) {
      if (taskId === this.view?.taskId && isUnknownTaskError(error))
        this.#apply({ type: 'forgotten', error });
      throw error;
    }
    await looked();
  }

  /**
   * Returns true if a fetched task may be older than the view, because events have arrived since the request. J3:
   * nothing follows the end of a task. With `seq`, the fold itself ignores an older state of the same task.
   * @param before the view at the time of the request
   */
  #isOutdated(taskId: string, before: TaskView | undefined): boolean {
    const view = this.#reportedView;
    return view !== before && (view?.taskId !== taskId || view.seq === null);
  }

  /**
   * Updates the view like `refresh`. If the agent does not know the task, the state becomes `unknown-to-agent`, and no
   * error is thrown. If a request for the task is already open, waits for that request.
   * @throws ProductError
   */
  async refreshState(): Promise<void> {
    try {
      if (this.#openFetch === undefined) return await this.refresh();
      await this.#openFetch;
      this.follow();
    } catch (error) {
      if (this.#state.type !== 'unknown-to-agent') throw error;
    }
  }

  /** Opens a stream, if the task works and no stream is open. */
  follow(): void {
    const { view } = this;
    if (this.hasStream || view === undefined || view.taskId === '' || !this.#needsStream()) return;
    this.#applyAndCompare({ type: 'stream-opened' });
    this.#reader.open(view.taskId);
  }

  /**
   * Keeps the view current even while the task waits: reads the stream of the task, or polls if the agent closes that
   * stream.
   * @returns a function that stops this reading
   */
  watch(): () => void {
    this.#watchers += 1;
    this.follow();
    // An agent that has forgotten the task may be restored from a backup, so the polling does not end then.
    const looks = setInterval(() => void this.refreshState().catch(() => undefined), POLL_MS);
    looks.unref();
    let over = false;
    return () => {
      if (over) return;
      over = true;
      clearInterval(looks);
      this.#watchers -= 1;
      // Without a watching caller, a task that waits needs no open stream.
      if (!this.#needsStream()) this.#reader.close();
    };
  }

  /** Closes the streams. The task continues. */
  close(): void {
    this.#end.abort();
    this.#listeners.clear();
  }

  get #task(): SessionTaskState | null {
    return sessionTaskStateOf(this.#state);
  }

  /** The view as the agent has reported it. It may still list what is already decided (see `shownTaskView`). */
  get #reportedView(): TaskView | undefined {
    return this.#task?.view;
  }

  /** Starts to read the response to a message. From now on, only the events of this newest stream count. */
  #beginResponse(begun: AcknowledgedMessage): void {
    if (begun.type === 'found') {
      this.applyEvent(taskAsStreamResponse(begun.task), begun.connection);
      this.follow();
      return;
    }
    this.#reader.begin(begun.first, begun.rest, begun.connection);
  }

  /**
   * Returns true if the session needs a stream: the task works, or a caller watches a waiting task whose agent keeps
   * its streams open.
   */
  #needsStream(): boolean {
    const type = this.#task?.type;
    if (type === 'ended' || type === 'unknown-to-agent') return false;
    return type !== 'waiting' || (this.#watchers > 0 && this.#connection?.staysOpen === true);
  }

  #handleStreamEnd(): void {
    // If an answer is on its way, a closed stream does not mean that the agent asks again. So the state does not
    // change.
    if (!this.#sender.isAnswering) this.#apply({ type: 'stream-ended' });
  }

  #handleReadingEnd(error: ProductError | undefined): void {
    if (error === undefined) this.follow();
    else this.#apply({ type: isUnknownTaskError(error) ? 'forgotten' : 'stream-lost', error });
  }

  #apply(event: SessionEvent): void {
    if (this.#applyAndCompare(event)) this.#callListeners({ type: 'state' });
  }

  #applyAndCompare(event: SessionEvent): boolean {
    const before = this.#state;
    this.#state = nextSessionState(before, event);
    return this.#state !== before;
  }

  #callListeners(change: SessionChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

function pendingInputOf(view: TaskView | undefined): PendingInput {
  return { pending: view?.pending ?? [], question: view?.question ?? null };
}

/**
 * Returns true if the agent answers a request with an older `seq` than it had sent before the request. Its task was then
 * restored from a backup.
 */
function isRestoredFromBackup(
  requested: TaskView | undefined,
  view: TaskView | undefined,
  seq: number | null,
): boolean {
  if (requested?.seq === undefined || requested.seq === null || seq === null) return false;
  return seq < requested.seq && (view?.seq ?? 0) >= requested.seq;
}

function isUnknownTaskError(error: unknown): error is ProductError {
  return error instanceof ProductError && error.reason === 'UNKNOWN_TASK';
}

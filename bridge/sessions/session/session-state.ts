/**
 * The state of one session as one union. Pure: `nextSessionState` computes the next state from an event.
 *
 * While a message is being sent, the state is `not-delivered`. It contains the state of the session's earlier task, so
 * that the task stays visible.
 */
import type { ProductError } from '../../../shared/runtime/errors.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import type { ObservedEvent, SessionStateName } from '../../dialects/observation.ts';
import type { TurnObservation } from '../../dialects/turn-observation.ts';
import {
  foldObservedEvent,
  hasEnded,
  hasSettled,
  isEndedOrInterrupted,
  type TaskView,
} from './observed-task.ts';

/** The state of the delivery of one message to the agent. */
export type MessageDeliveryState =
  /** The first attempt is running. */
  | { type: 'sending' }
  /** The agent has the message, but has not sent a task id yet. */
  | { type: 'silent' }
  /** An attempt has failed. The next one starts at `nextTry`. While an attempt runs, `nextTry` is null. */
  | { type: 'retrying'; reason: string; nextTry: Date | null; mayHaveArrived: boolean }
  /** The last attempt has failed, and the bridge does not try again. */
  | { type: 'given-up'; error: ProductError };

export type SessionTaskState =
  /**
   * `answered` contains the ids of answered questions, because the agent may repeat a question until it works again.
   * `streamProblem` says why the bridge cannot follow the task at the moment.
   */
  | { type: 'working'; view: TaskView; answered: ReadonlySet<string>; streamProblem: ProductError | null }
  | { type: 'waiting'; view: TaskView; answered: ReadonlySet<string> }
  /** The agent does not have this task, for example because it lost its tasks in a restart. */
  | { type: 'unknown-to-agent'; view: TaskView; error: ProductError }
  | { type: 'ended'; view: TaskView; result: 'open' | 'handed-over' };

export type SessionState =
  | { type: 'not-delivered'; delivery: MessageDeliveryState; task: SessionTaskState | null }
  | SessionTaskState;

export type SessionEvent =
  /**
   * The bridge is about to send a message. `answers` is the id of the question that the message answers. `delegates` is
   * true if the message delegates work.
   */
  | { type: 'sending'; answers: string | undefined; delegates: boolean }
  | { type: 'delivery'; delivery: MessageDeliveryState }
  | { type: 'delivered' }
  /** The bridge keeps the message and will send it again. */
  | { type: 'postponed'; delivery: MessageDeliveryState }
  /** The bridge will not send the message again, because it is withdrawn or lost. */
  | { type: 'dropped' }
  /**
   * The delivery has failed. `before` is the task's state before the event `sending`, and `during` is its state after
   * that event.
   */
  | {
      type: 'undelivered';
      error: ProductError;
      before: SessionTaskState | null;
      during: SessionTaskState | null;
    }
  /**
   * `replaces` is true if the agent has gone back to an older state. The earlier view of the task then no longer
   * counts.
   */
  | { type: 'observed'; observed: ObservedEvent; replaces?: boolean }
  /** The agent has closed a stream. A working task that needs input or a sign-in becomes `waiting` then. */
  | { type: 'stream-ended' }
  | { type: 'stream-lost'; error: ProductError }
  | { type: 'stream-opened' }
  | { type: 'forgotten'; error: ProductError }
  | { type: 'handed-over' };

type OmitIds<T> = T extends unknown ? Omit<T, 'taskId' | 'sessionId'> : never;

/** Returns the event for an observation that the bridge itself makes about a task. */
export function bridgeObservation(
  observation: OmitIds<Extract<TurnObservation, { type: 'decided' | 'outdated' | 'moving' }>>,
  { taskId, sessionId }: { taskId: string; sessionId: string },
): SessionEvent {
  return {
    type: 'observed',
    observed: { seq: null, observations: [{ ...observation, taskId, sessionId }] },
  };
}

/** The state before the first message is sent. */
export const NEW_SESSION: SessionState = { type: 'not-delivered', delivery: { type: 'sending' }, task: null };

const NO_QUESTIONS: ReadonlySet<string> = new Set();

/**
 * Returns true during the first attempt to deliver the message. The agent may then send the task id at any moment. After
 * a failed attempt, a wait would be useless.
 */
export function isFirstAttempt(state: SessionState): boolean {
  return (
    state.type === 'not-delivered' && (state.delivery.type === 'sending' || state.delivery.type === 'silent')
  );
}

/** Returns the state after an event. Returns the same object if the event changes nothing. */
export function nextSessionState(state: SessionState, event: SessionEvent): SessionState {
  const task = sessionTaskStateOf(state);
  switch (event.type) {
    case 'sending': {
      const moved = task === null ? null : taskStateAfterMessage(task, event.answers);
      if (event.delegates) return { type: 'not-delivered', delivery: { type: 'sending' }, task: moved };
      return withTaskState(state, moved);
    }
    case 'delivery':
      return state.type === 'not-delivered' ? { ...state, delivery: event.delivery } : state;
    case 'delivered':
      if (state.type !== 'not-delivered') return state;
      return task ?? { ...state, delivery: { type: 'silent' } };
    case 'postponed':
      // If the task works or waits, the state stays that of the task, so that its next question stays visible.
      return task === null || task.type === 'ended' || task.type === 'unknown-to-agent'
        ? { type: 'not-delivered', delivery: event.delivery, task }
        : state;
    case 'dropped':
      return task ?? state;
    case 'undelivered': {
      const { error, before, during } = event;
      const kept = task === during ? before : withoutAnswers(task, { before, during });
      return kept ?? { type: 'not-delivered', delivery: { type: 'given-up', error }, task: null };
    }
    case 'observed': {
      const earlier = event.replaces === true ? null : task;
      const view = foldObservedEvent(earlier?.view, event.observed);
      if (view === undefined || view === task?.view) return state;
      const observed = taskStateOfView(
        view,
        isEndedOrInterrupted(view) ? answeredQuestionsOf(earlier) : NO_QUESTIONS,
      );
      return task === null ? observed : withTaskState(state, observed);
    }
    case 'stream-ended':
      return task?.type === 'working' && isEndedOrInterrupted(task.view)
        ? withTaskState(state, { type: 'waiting', view: task.view, answered: task.answered })
        : state;
    case 'stream-lost':
      return task?.type === 'working' ? withTaskState(state, { ...task, streamProblem: event.error }) : state;
    case 'stream-opened':
      return task?.type === 'working' && task.streamProblem !== null
        ? withTaskState(state, { ...task, streamProblem: null })
        : state;
    case 'forgotten':
      if (task?.type !== 'working' && task?.type !== 'waiting') return state;
      return withTaskState(state, {
        type: 'unknown-to-agent',
        view: viewOfForgottenTask(task.view),
        error: event.error,
      });
    case 'handed-over':
      return task?.type === 'ended' ? withTaskState(state, { ...task, result: 'handed-over' }) : state;
  }
}

/** Returns the state of the session's task, even while a message is not delivered. */
export function sessionTaskStateOf(state: SessionState): SessionTaskState | null {
  return state.type === 'not-delivered' ? state.task : state;
}

/**
 * Returns true if only a new message can change the session: its task has ended, or the delivery has finally failed.
 */
export function isSessionOver(state: SessionState): boolean {
  if (state.type === 'not-delivered') return state.delivery.type === 'given-up';
  return state.type === 'ended' || state.type === 'unknown-to-agent';
}

export function sessionStateName(state: SessionState): SessionStateName {
  if (state.type === 'not-delivered') return state.delivery.type === 'silent' ? 'working' : state.type;
  return state.type === 'unknown-to-agent' ? state.type : shownTaskView(state).state;
}

/**
 * Returns the view of the task that people see. It leaves out what is already decided. After the last answer or
 * decision, an agent may report "input required" until its next step. The task works then, and asks nothing.
 */
export function shownTaskView(task: SessionTaskState): TaskView {
  const { view } = task;
  if (task.type !== 'working') return view;
  if (isEndedOrInterrupted(view)) return { ...view, state: 'working', text: '', question: null };
  return view.pending.length === 0 ? view : { ...view, pending: undecidedActions(view) };
}

/** Returns the actions without those whose decision was sent. Their calls are ready to run. */
function undecidedActions({ pending, calls }: TaskView): readonly PendingAction[] {
  const ready = new Set(calls.filter(({ state }) => state === 'ready').map(({ callId }) => callId));
  return pending.filter(({ callId }) => !ready.has(callId));
}

/**
 * Returns why the message is not delivered, or why the agent does not know the task. Returns undefined if the view of
 * the task is complete.
 */
export function sessionProblem(state: SessionState): string | undefined {
  switch (state.type) {
    case 'unknown-to-agent':
      return state.error.message;
    case 'not-delivered':
      return deliveryText(state.delivery);
    case 'working':
    case 'waiting':
    case 'ended':
      return undefined;
  }
}

function deliveryText(delivery: MessageDeliveryState): string | undefined {
  switch (delivery.type) {
    case 'silent':
      return undefined;
    case 'sending':
      return 'It is not delivered yet: the agent has not answered. A try is under way.';
    case 'retrying': {
      const { reason, nextTry } = delivery;
      const when =
        nextTry === null ? 'Another try is under way.' : `The next try is at ${nextTry.toISOString()}.`;
      return `It is not delivered yet: ${reason} ${when}`;
    }
    case 'given-up':
      return `It was not delivered: ${delivery.error.message}`;
  }
}

function withTaskState(state: SessionState, task: SessionTaskState | null): SessionState {
  if (state.type === 'not-delivered') return task === state.task ? state : { ...state, task };
  return task ?? state;
}

function taskStateOfView(view: TaskView, answered: ReadonlySet<string>): SessionTaskState {
  if (hasEnded(view)) return { type: 'ended', view, result: 'open' };
  return hasSettled(view, answered)
    ? { type: 'waiting', view, answered }
    : { type: 'working', view, answered, streamProblem: null };
}

/**
 * Returns the state of the task after a message was sent and before the agent has reacted. If the message answers a
 * question, the task no longer waits for that answer. So the bridge continues to read the task.
 */
function taskStateAfterMessage(task: SessionTaskState, answers: string | undefined): SessionTaskState {
  if (task.type !== 'waiting' && task.type !== 'working') return task;
  const { view, answered } = task;
  return taskStateOfView(view, answers === undefined ? answered : new Set([...answered, answers]));
}

/**
 * Returns the state of the task after a message has failed: the questions that the message answered are open again. The
 * task may have changed since the message was sent.
 */
function withoutAnswers(
  task: SessionTaskState | null,
  { before, during }: { before: SessionTaskState | null; during: SessionTaskState | null },
): SessionTaskState | null {
  const earlier = answeredQuestionsOf(before);
  const isFailed = (id: string): boolean => answeredQuestionsOf(during).has(id) && !earlier.has(id);
  const answered = [...answeredQuestionsOf(task)];
  return task === null || !answered.some(isFailed)
    ? task
    : taskStateOfView(task.view, new Set(answered.filter((id) => !isFailed(id))));
}

function answeredQuestionsOf(task: SessionTaskState | null): ReadonlySet<string> {
  return task?.type === 'working' || task?.type === 'waiting' ? task.answered : NO_QUESTIONS;
}

/** Returns the view of a task that the agent has forgotten. It has no pending actions, and no tool runs. */
function viewOfForgottenTask(view: TaskView): TaskView {
  const calls = view.calls.map((call) =>
    call.state === 'waiting' || call.state === 'ready' || call.state === 'running'
      ? { ...call, state: 'unknown' as const }
      : call,
  );
  return { ...view, state: 'unknown', pending: [], question: null, calls };
}

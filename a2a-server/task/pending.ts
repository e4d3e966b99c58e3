/** Builds the pending actions of a task from its waiting calls. */
import type { DecisionWord, PendingAction, PendingReason } from '../../shared/protocol/tool-approval.ts';
import type { RecordedAction, TaskEvent } from './events.ts';
import { fold } from './fold.ts';
import { shownOf } from './shown.ts';
import { isAgentsOwn, waitingCalls, type Call, type Snapshot } from './snapshot.ts';

/** Finds the same question among these actions. A call that is asked again is a different question (D2). */
export function findSameQuestion(
  pending: readonly PendingAction[],
  { callId, shown }: Pick<RecordedAction, 'callId' | 'shown'>,
): PendingAction | undefined {
  return pending.find((action) => action.callId === callId && action.shown === shown);
}

const DECISIONS: Readonly<Record<PendingReason, readonly DecisionWord[]>> = {
  approval: ['approve', 'deny', 'edit'],
  'content-changed': ['approve', 'deny', 'edit'],
  // If a crash lost the outcome, the person may run the call again or skip it, but not edit it.
  'outcome-unknown': ['approve', 'deny'],
  question: ['answer', 'deny'],
};

/** A waiting call as a pending action. A call of an ACP agent cannot be edited. */
function pendingAction(snapshot: Snapshot, call: Call, reason: PendingReason): PendingAction {
  const { callId, tool, title, input, sideEffect, source, preview, rule } = call;
  return {
    callId,
    tool,
    title,
    input,
    shown: shownOf(call, reason),
    sideEffect,
    source,
    preview,
    reason,
    ...(isFirstQuestion(snapshot, call) && { first: true }),
    ...(rule !== null && { rule }),
    expiresAt: null,
    decisions: DECISIONS[reason].filter((word) => word !== 'edit' || !isAgentsOwn(call)),
  };
}

function pendingOf(snapshot: Snapshot, call: Call): PendingAction[] {
  return call.state.type === 'waiting' ? [pendingAction(snapshot, call, call.state.reason)] : [];
}

/** True if the task has asked nothing before this question. Then a plain word can be meant for no other question (D2). */
export function isFirstQuestion(snapshot: Snapshot, { callId, state }: Call): boolean {
  if (state.type !== 'waiting' || (state.reason !== 'approval' && state.reason !== 'question')) return false;
  return !hasAsked(snapshot, callId);
}

/**
 * Whether the task may have asked something before. A message after the first one may have answered a question in words, a
 * budget question or a sign-in. @param except a call that does not count
 */
export function hasAsked({ calls, exchanges, queued }: Snapshot, except?: string): boolean {
  const messages = exchanges.filter(({ type }) => type === 'message').length + queued.length;
  return messages > 1 || Object.values(calls).some((call) => call.callId !== except && wasAsked(call));
}

function wasAsked({ decided, state }: Call): boolean {
  return (
    decided !== null ||
    state.type === 'waiting' ||
    (state.type === 'settled' && state.result.type === 'withdrawn')
  );
}

/** The actions that the task waits for. An action that was pending before keeps its deadline. */
export function pendingActions(snapshot: Snapshot): PendingAction[] {
  const asked = snapshot.status.state === 'input-required' ? snapshot.status.pending : [];
  return waitingCalls(snapshot)
    .flatMap((call) => pendingOf(snapshot, call))
    .map((action) => ({ ...action, expiresAt: findSameQuestion(asked, action)?.expiresAt ?? null }));
}

/** The event that parks the task if calls wait, or continues it if none do. */
export function parkOrContinue(snapshot: Snapshot): TaskEvent {
  const pending = pendingActions(snapshot);
  return pending.length > 0 ? { type: 'input.required', pending } : { type: 'task.working' };
}

/**
 * Appends the task's state to events of a running call. While a tool waits for an answer, the task stays parked, and clients
 * must see that after each event.
 */
export function withTaskState(snapshot: Snapshot, ...events: TaskEvent[]): TaskEvent[] {
  if (snapshot.status.state !== 'input-required') return events;
  const entries = events.map((event, at) => ({ seq: snapshot.seq + 1 + at, at: snapshot.updatedAt, event }));
  return [...events, parkOrContinue(entries.reduce(fold, snapshot))];
}

/** The event that voids a question. */
export function questionWithdrawn({ callId, tool, title }: Call): TaskEvent {
  return { type: 'tool.withdrew', callId, tool, title };
}

/** Builds the pending actions of a task from its waiting calls. */
import type { DecisionWord, PendingAction, PendingReason } from '../../shared/protocol/tool-approval.ts';
import type { RecordedAction, TaskEvent } from './events.ts';
import { foldNext } from './fold.ts';
import { shownCodeOf } from './shown.ts';
import { isRunByAcpAgent, waitingCalls, type Call, type Snapshot, type WaitingCall } from './snapshot.ts';

/** Finds the same question among these actions. A second question about the same call is a different question (D2). */
export function findSameQuestion(
  pending: readonly PendingAction[],
  { callId, shown }: Pick<RecordedAction, 'callId' | 'shown'>,
): PendingAction | undefined {
  return pending.find((action) => action.callId === callId && action.shown === shown);
}

const DECISIONS: Readonly<Record<PendingReason, readonly DecisionWord[]>> = {
  approval: ['approve', 'deny', 'edit'],
  'content-changed': ['approve', 'deny', 'edit'],
  // If a crash lost the outcome, the person may run the call again or skip it. An edit is not possible.
  'outcome-unknown': ['approve', 'deny'],
  question: ['answer', 'deny'],
};

/** Converts a waiting call to a pending action. A person cannot edit a call of an ACP agent. */
function pendingAction(snapshot: Snapshot, call: WaitingCall): PendingAction {
  const { callId, tool, title, input, sideEffect, source, preview, rule } = call;
  const { reason } = call.state;
  return {
    callId,
    tool,
    title,
    input,
    shown: shownCodeOf(call, reason),
    sideEffect,
    source,
    preview,
    reason,
    ...(isFirstQuestion(snapshot, call) && { first: true }),
    ...(rule !== null && { rule }),
    expiresAt: null,
    decisions: DECISIONS[reason].filter((word) => word !== 'edit' || !isRunByAcpAgent(call)),
  };
}

/** True if this is the task's first question. A plain word can then belong only to this question (D2). */
export function isFirstQuestion(snapshot: Snapshot, { callId, state }: Call): boolean {
  if (state.type !== 'waiting' || (state.reason !== 'approval' && state.reason !== 'question')) return false;
  return !mayHaveAsked(snapshot, callId);
}

/**
 * True if the task may have asked a question before. For example, the second message of a task may be the reply to a
 * question in words, a budget question or a sign-in. @param except a call to ignore
 */
export function mayHaveAsked({ calls, exchanges, queued }: Snapshot, except?: string): boolean {
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

/** Returns the pending actions of the task. An action that was already pending keeps its deadline. */
export function pendingActions(snapshot: Snapshot): PendingAction[] {
  const asked = snapshot.status.state === 'input-required' ? snapshot.status.pending : [];
  return waitingCalls(snapshot)
    .map((call) => pendingAction(snapshot, call))
    .map((action) => ({ ...action, expiresAt: findSameQuestion(asked, action)?.expiresAt ?? null }));
}

/** Returns the event that parks the task if calls wait. Otherwise returns the event that continues it. */
export function parkOrContinue(snapshot: Snapshot): TaskEvent {
  const pending = pendingActions(snapshot);
  return pending.length > 0 ? { type: 'input.required', pending } : { type: 'task.working' };
}

/**
 * Adds the task's state to events of a running call. While a tool waits for an answer, the task stays parked. So
 * clients see the correct state after each event.
 */
export function withTaskState(snapshot: Snapshot, ...events: TaskEvent[]): TaskEvent[] {
  if (snapshot.status.state !== 'input-required') return events;
  return [...events, parkOrContinue(foldNext(snapshot, events))];
}

/** Returns the event that withdraws a question. */
export function questionWithdrawn({ callId, tool, title }: Call): TaskEvent {
  return { type: 'tool.withdrew', callId, tool, title };
}

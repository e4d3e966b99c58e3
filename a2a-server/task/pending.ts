/** Builds the pending actions of a task from its waiting tool calls. */
import type { DecisionWord, PendingAction, PendingReason } from '../../shared/protocol/tool-approval.ts';
import { resolveApproverDemand } from './approver.ts';
import type { RecordedPendingAction, TaskEvent } from './events.ts';
import { foldNextEvents } from './fold.ts';
import { shownCodeOf } from './shown-code-of-call.ts';
import { isRunByAcpAgent, waitingCalls, type Call, type Snapshot, type WaitingCall } from './snapshot.ts';

/**
 * Finds the action that asks the same question. D2: a repeated question about the same tool call has a new code, so it
 * is not the same question.
 */
export function findSameQuestion(
  pending: readonly PendingAction[],
  { callId, shown }: Pick<RecordedPendingAction, 'callId' | 'shown'>,
): PendingAction | undefined {
  return pending.find((action) => action.callId === callId && action.shown === shown);
}

const DECISIONS: Readonly<Record<PendingReason, readonly DecisionWord[]>> = {
  approval: ['approve', 'deny', 'edit'],
  'content-changed': ['approve', 'deny', 'edit'],
  // A crash lost the outcome. The person can run the tool call again or skip it, but not edit it.
  'outcome-unknown': ['approve', 'deny'],
  question: ['answer', 'deny'],
};

/** Converts a waiting tool call to a pending action. A person cannot edit the input of an ACP agent's call. */
function pendingAction(snapshot: Snapshot, call: WaitingCall): PendingAction {
  const { callId, tool, title, input, sideEffect, source, preview, rule, presence, approver } = call;
  const { reason } = call.state;
  const { workspace } = snapshot.settings;
  return {
    callId,
    tool,
    title,
    input,
    shown: shownCodeOf(call, reason),
    sideEffect,
    source,
    preview,
    ...(sideEffect === 'files' && workspace !== undefined && { workspace }),
    reason,
    ...(isFirstQuestion(snapshot, call) && { first: true }),
    ...(rule !== null && { rule }),
    // Each use of a passkey approves one tool call, so such a decision creates no grant.
    ...(presence && { presence, scopes: ['once'] }),
    ...(approver && { approver: resolveApproverDemand(snapshot, approver) }),
    expiresAt: null,
    decisions: DECISIONS[reason].filter((word) => word !== 'edit' || !isRunByAcpAgent(call)),
  };
}

/**
 * True if this is the task's first question. Only then does a plain word like `approve` clearly belong to this question
 * (D2: a decision binds to what was shown).
 */
export function isFirstQuestion(snapshot: Snapshot, { callId, state }: Call): boolean {
  if (state.type !== 'waiting' || (state.reason !== 'approval' && state.reason !== 'question')) return false;
  return !mayHaveAskedBefore(snapshot, callId);
}

/**
 * True if the task may have asked a question before. For example, a second message may be the reply to an earlier
 * question.
 * @param except a tool call to ignore
 */
export function mayHaveAskedBefore({ calls, exchanges, queued }: Snapshot, except?: string): boolean {
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

/** Returns the pending actions. An action that was already pending keeps its deadline. */
export function pendingActions(snapshot: Snapshot): PendingAction[] {
  const asked = snapshot.status.state === 'input-required' ? snapshot.status.pending : [];
  return waitingCalls(snapshot)
    .map((call) => pendingAction(snapshot, call))
    .map((action) => ({ ...action, expiresAt: findSameQuestion(asked, action)?.expiresAt ?? null }));
}

/**
 * Returns the event that makes the task wait for a person, if calls wait for a decision. Otherwise returns the event
 * that continues the task.
 */
export function parkOrContinue(snapshot: Snapshot): TaskEvent {
  const pending = pendingActions(snapshot);
  return pending.length > 0 ? { type: 'input.required', pending } : { type: 'task.working' };
}

/**
 * Returns the events. If the task waits for a person, adds an event with the task's new state. Otherwise clients would
 * see an old state.
 */
export function withTaskState(snapshot: Snapshot, ...events: TaskEvent[]): TaskEvent[] {
  return snapshot.status.state === 'input-required' ? thenParkOrContinue(snapshot, events) : events;
}

/** Returns the events, and `parkOrContinue` after them. @param at the time of their append */
export function thenParkOrContinue(
  snapshot: Snapshot,
  events: readonly TaskEvent[],
  at?: number,
): TaskEvent[] {
  return [...events, parkOrContinue(foldNextEvents(snapshot, events, at))];
}

export function questionWithdrawn({ callId, tool, title }: Call): TaskEvent {
  return { type: 'tool.withdrew', callId, tool, title };
}

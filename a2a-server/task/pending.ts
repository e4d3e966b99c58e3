/** What a waiting call is shown as. */
import type { DecisionWord, PendingAction, PendingReason } from '../../shared/protocol/tool-approval.ts';
import type { RecordedAction, TaskEvent } from './events.ts';
import { fold } from './fold.ts';
import { shownOf } from './shown.ts';
import { isAgentsOwn, waitingCalls, type Call, type Snapshot } from './snapshot.ts';

/** The same question among these. A call that is asked again is another question (D2). */
export function sameAsking(
  pending: readonly PendingAction[],
  { callId, shown }: Pick<RecordedAction, 'callId' | 'shown'>,
): PendingAction | undefined {
  return pending.find((action) => action.callId === callId && action.shown === shown);
}

const DECISIONS: Readonly<Record<PendingReason, readonly DecisionWord[]>> = {
  approval: ['approve', 'deny', 'edit'],
  'content-changed': ['approve', 'deny', 'edit'],
  // What was lost in a crash may be run again or skipped, but not edited.
  'outcome-unknown': ['approve', 'deny'],
  question: ['answer', 'deny'],
};

/** A waiting call as a pending action. What an agent of its own does can be let go or not, as it is. */
function pendingAction(call: Call, reason: PendingReason): PendingAction {
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
    ...(rule !== null && { rule }),
    expiresAt: null,
    decisions: DECISIONS[reason].filter((word) => word !== 'edit' || !isAgentsOwn(call)),
  };
}

function pendingOf(call: Call): PendingAction[] {
  return call.state.type === 'waiting' ? [pendingAction(call, call.state.reason)] : [];
}

/** What the task waits for. An action that was asked before keeps the time it was given. */
export function pendingActions(snapshot: Snapshot): PendingAction[] {
  const asked = snapshot.status.state === 'input-required' ? snapshot.status.pending : [];
  return waitingCalls(snapshot)
    .flatMap(pendingOf)
    .map((action) => ({ ...action, expiresAt: sameAsking(asked, action)?.expiresAt ?? null }));
}

/** The event that parks a task on its waiting calls, or lets it move when there are none. */
export function parkOrMove(snapshot: Snapshot): TaskEvent {
  const pending = pendingActions(snapshot);
  return pending.length > 0 ? { type: 'input.required', pending } : { type: 'task.working' };
}

/**
 * Events of calls that run, and what the task waits for after them: while a tool waits for an answer its task is parked, and
 * every state a client is told of says so.
 */
export function besideQuestions(snapshot: Snapshot, ...events: TaskEvent[]): TaskEvent[] {
  if (snapshot.status.state !== 'input-required') return events;
  const entries = events.map((event, at) => ({ seq: snapshot.seq + 1 + at, at: snapshot.updatedAt, event }));
  return [...events, parkOrMove(entries.reduce(fold, snapshot))];
}

/** That a question waits for no answer any more. */
export function withdrawal({ callId, tool, title }: Call): TaskEvent {
  return { type: 'tool.withdrew', callId, tool, title };
}

/** What a waiting call is shown as. */
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import type { RequestedCall, TaskEvent } from './events.ts';
import { waitingCalls, type Call, type Snapshot } from './snapshot.ts';

/** A waiting call as a pending action. What was lost in a crash may be run again or skipped, but not edited. */
export function pendingAction(call: RequestedCall, reason: PendingAction['reason']): PendingAction {
  const { callId, tool, title, input, inputHash, sideEffect, source, preview } = call;
  return {
    callId,
    tool,
    title,
    input,
    inputHash,
    sideEffect,
    source,
    preview,
    reason,
    expiresAt: null,
    decisions: reason === 'outcome-unknown' ? ['approve', 'deny'] : ['approve', 'deny', 'edit'],
  };
}

function pendingOf(call: Call): PendingAction[] {
  return call.state.type === 'waiting' ? [pendingAction(call, call.state.reason)] : [];
}

export function pendingActions(snapshot: Snapshot): PendingAction[] {
  return waitingCalls(snapshot).flatMap(pendingOf);
}

/** The event that parks a task on its waiting calls, or lets it move when there are none. */
export function parkOrMove(snapshot: Snapshot): TaskEvent {
  const pending = pendingActions(snapshot);
  return pending.length > 0 ? { type: 'input.required', pending } : { type: 'task.working' };
}

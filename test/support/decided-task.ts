/** Tasks whose calls wait for a decision, and the decisions of `ada`. */
import type { CommandOutcome } from '../../a2a-server/task/command-outcome.ts';
import { decideCalls, type ResolvedDecision } from '../../a2a-server/task/decide.ts';
import type { TaskEvent } from '../../a2a-server/task/events.ts';
import { foldNextEvents } from '../../a2a-server/task/fold.ts';
import { pendingActions } from '../../a2a-server/task/pending.ts';
import type { Snapshot } from '../../a2a-server/task/snapshot.ts';
import { eventsOf, parkedTask, taskAfter, turnEventsWith } from './folded-task.ts';
import { questionCall, request } from './task-machine.ts';

export const ADA = { principal: 'ada', channel: 'tool' };
const DECIDED_AT = Date.UTC(2026, 0, 2, 3, 4, 5);

/** Returns a task in which all these calls wait for a decision. */
export function waitingFor(...callIds: string[]): Snapshot {
  return parkedTask(
    taskAfter(...turnEventsWith(callIds.map((id) => ({ call: request(id, false), ask: true })))),
  );
}

/**
 * Returns a decision with the code of `waitingFor`. An answer has no code, as from a client without the extension.
 */
export function decision(callId: string, more: Partial<ResolvedDecision> = {}): ResolvedDecision {
  const shown = more.decision === 'answer' ? null : (pendingActions(waitingFor(callId))[0]?.shown ?? null);
  return { callId, decision: 'approve', scope: 'once', reason: null, shown, edited: null, ...more };
}

export function decide(snapshot: Snapshot, decisions: readonly ResolvedDecision[], by = ADA): CommandOutcome {
  return decideCalls(snapshot, decisions, { by, at: DECIDED_AT });
}

/** Returns the task after these accepted decisions. */
export function decided(snapshot: Snapshot, ...decisions: ResolvedDecision[]): Snapshot {
  return foldNextEvents(snapshot, eventsOf(decide(snapshot, decisions)), DECIDED_AT);
}

export const TOOL_STARTED = {
  type: 'tool.started',
  callId: 'a',
  tool: 'write-file',
  title: 'A',
  toolId: 'x1',
} as const satisfies TaskEvent;

/** Returns a task whose running tool `a` has asked the question `a.q1`. */
export function askedByTool(): Snapshot {
  const runs = foldNextEvents(decided(waitingFor('a'), decision('a')), [TOOL_STARTED]);
  return parkedTask(foldNextEvents(runs, [{ type: 'tool.asked', call: questionCall('a.q1'), askedBy: 'a' }]));
}

/** Returns a message with this text. */
export function says(text: string) {
  return { messageId: 'm', parts: [{ type: 'text' as const, text }] };
}

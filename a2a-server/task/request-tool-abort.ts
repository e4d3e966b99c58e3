/**
 * Lists the running tool calls of a task, and builds the event with which another server requests the abort of one of
 * them. Pure.
 */
import type { TaskEvent } from './events.ts';
import type { Call, Snapshot } from './snapshot.ts';

/** A tool call whose tool runs now. */
type RunningCall = Call & { state: Extract<Call['state'], { type: 'running' }> };

export function runningCalls({ calls }: Snapshot): RunningCall[] {
  return Object.values(calls).filter((call): call is RunningCall => call.state.type === 'running');
}

export interface AbortRequest {
  toolId: string;
  principal: string;
  reason: string;
}

/**
 * Requests the abort of a tool execution. Changes nothing if it does not run, or if its abort was already requested.
 */
export function requestToolAbort(snapshot: Snapshot, request: AbortRequest): readonly TaskEvent[] {
  const call = runningCalls(snapshot).find(({ state }) => state.toolId === request.toolId);
  if (call === undefined || call.state.abort !== undefined) return [];
  return [{ type: 'abort.requested', callId: call.callId, ...request }];
}

/** Builds the event with which another server requests the abort of a tool execution. Pure. */
import type { TaskEvent } from './events.ts';
import { runningCalls, type Snapshot } from './snapshot.ts';

export interface AbortRequest {
  toolId: string;
  principal: string;
  reason: string;
}

/**
 * Returns the event that requests the abort of a tool execution. Returns no event if the tool execution does not run,
 * or if its abort was already requested.
 */
export function requestToolAbort(snapshot: Snapshot, request: AbortRequest): readonly TaskEvent[] {
  const call = runningCalls(snapshot).find(({ state }) => state.toolId === request.toolId);
  if (call === undefined || call.state.abort !== undefined) return [];
  return [{ type: 'abort.requested', callId: call.callId, ...request }];
}

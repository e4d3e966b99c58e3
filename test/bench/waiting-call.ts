/** Finds the call that waits for a person in a stream, and approves it. */
import type { SendMessageRequest, StreamResponse } from '@a2a-js/sdk';
import { pendingActionsPartSchema, TOOL_APPROVAL_EXTENSION } from '../../shared/protocol/tool-approval.ts';
import { saying } from './agent.ts';

/** A call that waits for a decision. */
export interface WaitingCall {
  taskId: string;
  callId: string;
  shown: string;
}

/** Reads a stream to its end. @returns the call that waits at the end, if any */
export async function lastWaiting(
  events: AsyncIterable<StreamResponse>,
  seen: (event: StreamResponse) => void = () => undefined,
): Promise<WaitingCall | undefined> {
  let waiting: WaitingCall | undefined;
  for await (const event of events) {
    seen(event);
    waiting = waitingIn(event);
  }
  return waiting;
}

function waitingIn({ payload }: StreamResponse): WaitingCall | undefined {
  if (payload?.$case !== 'statusUpdate') return undefined;
  const { taskId, status } = payload.value;
  for (const { content } of status?.message?.parts ?? []) {
    const part = pendingActionsPartSchema.safeParse(content?.$case === 'data' ? content.value : undefined);
    const [action] = part.data?.pending ?? [];
    if (action !== undefined) return { taskId, callId: action.callId, shown: action.shown };
  }
  return undefined;
}

/** Returns the message that approves the call. */
export function approving({ taskId, callId, shown }: WaitingCall): SendMessageRequest {
  const decisions = [{ callId, shown, decision: 'approve' }];
  return saying({ taskId, data: { extension: TOOL_APPROVAL_EXTENSION, decisions } });
}

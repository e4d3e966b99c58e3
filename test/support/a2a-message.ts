/** Builds messages and decisions as an A2A 1.0 client sends them, valid or not. */
import { randomUUID } from 'node:crypto';
import {
  TOOL_APPROVAL_EXTENSION,
  type PendingAction,
  type TaskSettings,
} from '../../shared/protocol/tool-approval.ts';

/** A decision as a client may send it, valid or not. */
export type WrittenDecision = Record<string, unknown>;

export interface MessageFields {
  /** Defaults to a new id. */
  messageId?: string;
  taskId?: string;
  sessionId?: string;
  settings?: TaskSettings;
}

/** A message in its wire format. */
export function writtenMessage(
  parts: string | readonly unknown[],
  { messageId = randomUUID(), taskId, sessionId, settings }: MessageFields = {},
): object {
  return {
    messageId,
    role: 'ROLE_USER',
    parts: typeof parts === 'string' ? [{ text: parts }] : parts,
    ...(taskId !== undefined && { taskId }),
    ...(sessionId !== undefined && { contextId: sessionId }),
    ...(settings && { metadata: { [TOOL_APPROVAL_EXTENSION]: settings } }),
  };
}

export function decisionsPart(decisions: readonly WrittenDecision[]): object {
  return { data: { extension: TOOL_APPROVAL_EXTENSION, decisions } };
}

/** The fields that a decision needs from the first pending action. */
export function actionOf([action]: readonly Pick<PendingAction, 'callId' | 'shown'>[]) {
  if (action === undefined) throw new Error('nothing is pending');
  return { callId: action.callId, shown: action.shown };
}

/** A decision on the first pending action. */
export function decisionOn(
  pending: readonly PendingAction[],
  decision: unknown,
  more: WrittenDecision = {},
): WrittenDecision {
  return { ...actionOf(pending), decision, ...more };
}

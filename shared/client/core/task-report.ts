/** The state of a task as a client shows it. It is the same over A2A and MCP. */
import type { DecisionWord, PendingReason, Preview, SideEffect } from '../../protocol/tool-approval.ts';

/**
 * - `not-delivered`: the agent does not have the task yet, and the bridge tries again. Over MCP only.
 * - `waiting`: nothing runs until a person decides the pending actions or answers the question.
 * - `rejected`: the agent refused the task.
 *
 * The last four states are final.
 */
export type TaskState =
  'not-delivered' | 'working' | 'waiting' | 'completed' | 'canceled' | 'failed' | 'rejected';

export interface PendingAction {
  callId: string;
  /** The code of this question. A decision carries the code of the question that the person saw (D2). */
  shown: string;
  tool: string;
  /** One line about the effect of the call. */
  title: string;
  input: Readonly<Record<string, unknown>>;
  sideEffect: SideEffect;
  /** Why the action waits; see `pendingReasonSchema` in `protocol/tool-approval.ts`. */
  reason: PendingReason;
  /** The preview for the person. Over MCP it is text. */
  preview: Preview | { type: 'text'; text: string };
  /** RFC 3339; null if the action never expires. */
  expiresAt: string | null;
  decisions: readonly DecisionWord[];
}

/** A running tool execution. */
export interface RunningTool {
  /** The id for an abort. */
  toolId: string;
  tool: string;
  title: string;
  /** RFC 3339; null if unknown. */
  startedAt: string | null;
}

export interface TaskReport {
  /** The id of the session. Start the next task with it to continue the conversation. */
  sessionId: string;
  taskId: string | null;
  state: TaskState;
  /** The agent's message about the state, e.g. why the task failed. Of `not-delivered`: why, and the next try. */
  message: string;
  /** The calls that a completed task did not do, e.g. `not done: Write a.txt (denied)`; '' if it did all calls. */
  notDone: string;
  /** The agent's answer so far. */
  output: string;
  pending: readonly PendingAction[];
  /** The agent's question in plain text; null if there is none. */
  question: string | null;
  tools: readonly RunningTool[];
  /** The position of the last event in this report; null over MCP, which has no positions. */
  cursor: number | null;
}

/** True in the final states. */
export function hasEnded({ state }: Pick<TaskReport, 'state'>): boolean {
  return state === 'completed' || state === 'canceled' || state === 'failed' || state === 'rejected';
}

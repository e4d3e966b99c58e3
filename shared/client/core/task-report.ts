import type { DecisionWord, PendingReason, Preview, SideEffect } from '../../protocol/tool-approval.ts';

/**
 * - `not-delivered`: the agent does not have the task yet, and the bridge tries again. Only MCP has this state.
 * - `waiting`: the task does nothing until a person decides the pending actions or answers the question.
 * - `rejected`: the agent refused the task.
 *
 * The last four states are final.
 */
export type TaskState =
  'not-delivered' | 'working' | 'waiting' | 'completed' | 'canceled' | 'failed' | 'rejected';

export interface PendingAction {
  callId: string;
  /** The code of this question. A decision contains the code of the question that the person saw (D2). */
  shown: string;
  tool: string;
  /** One line about the effect of the call. */
  title: string;
  input: Readonly<Record<string, unknown>>;
  sideEffect: SideEffect;
  /** See `pendingReasonSchema` in `protocol/tool-approval.ts`. */
  reason: PendingReason;
  /** The preview for the person. Over MCP it is text. */
  preview: Preview | { type: 'text'; text: string };
  /** RFC 3339. Null if the action never expires. */
  expiresAt: string | null;
  /** True if an approval or an edit needs the assertion of a passkey. */
  presence?: true | undefined;
  decisions: readonly DecisionWord[];
}

export interface RunningTool {
  /** The id for an abort. */
  toolId: string;
  tool: string;
  title: string;
  /** RFC 3339. Null if unknown. */
  startedAt: string | null;
}

export interface TaskReport {
  /** The next task continues the conversation if it starts with this id. */
  sessionId: string;
  taskId: string | null;
  state: TaskState;
  /**
   * The agent's message about the state, e.g. why the task failed. For `not-delivered`, the message contains the cause
   * and the time of the next attempt.
   */
  message: string;
  /** The calls that a completed task did not do, e.g. `not done: Write a.txt (denied)`. '' if there are none. */
  notDone: string;
  output: string;
  pending: readonly PendingAction[];
  /** The agent's question as plain text. Null if there is none. */
  question: string | null;
  tools: readonly RunningTool[];
  /** The position of the last event in this report. Null over MCP, which has no positions. */
  cursor: number | null;
}

export function hasEnded({ state }: Pick<TaskReport, 'state'>): boolean {
  return state === 'completed' || state === 'canceled' || state === 'failed' || state === 'rejected';
}

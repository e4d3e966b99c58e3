/** A task as a client shows it: the same over A2A and over MCP. */
import type { DecisionWord, PendingReason, Preview, SideEffect } from '../protocol/tool-approval.ts';

/**
 * `waiting`: nothing runs until somebody decides the pending actions, or answers the question.
 * The last three are final.
 */
export type TaskState = 'working' | 'waiting' | 'completed' | 'canceled' | 'failed';

export interface PendingAction {
  callId: string;
  /** The code of this question. A decision carries the code of the question that the person saw (D2). */
  shown: string;
  tool: string;
  /** One line that says what the call will do. */
  title: string;
  input: Readonly<Record<string, unknown>>;
  sideEffect: SideEffect;
  /** Why it waits: never decided, its outcome was lost, what was shown has changed since, or it is a question. */
  reason: PendingReason;
  /** What to show a person before they decide. Over MCP it is text. */
  preview: Preview | { type: 'text'; text: string };
  /** RFC 3339; null when it waits for as long as it takes. */
  expiresAt: string | null;
  decisions: readonly DecisionWord[];
}

/** One attempt to run a tool, under way. */
export interface RunningTool {
  /** What abort takes. */
  toolId: string;
  tool: string;
  title: string;
  /** RFC 3339; null where it is not known. */
  startedAt: string | null;
}

export interface TaskReport {
  /** The conversation: go on with it by starting the next task with this id. */
  sessionId: string;
  taskId: string | null;
  state: TaskState;
  /** What the agent's status says in words; why it was canceled, or failed. */
  message: string;
  /** What the agent has said. */
  output: string;
  pending: readonly PendingAction[];
  /** What the agent wants to be told, where it asks in words; null otherwise. */
  question: string | null;
  tools: readonly RunningTool[];
  /** The position in the task's events up to which this is told; null over MCP, which has none. */
  cursor: number | null;
}

export function hasEnded({ state }: Pick<TaskReport, 'state'>): boolean {
  return state !== 'working' && state !== 'waiting';
}

import type { DemandedApprover } from '../../protocol/demanded-approver.ts';
import type {
  DecisionWord,
  PendingReason,
  Preview,
  SideEffect,
  ToolSource,
} from '../../protocol/tool-approval.ts';

/**
 * The states of a task:
 *
 * - `not-delivered`: the agent does not have the task yet, and the bridge tries again. Only an McpClient reports this
 *   state.
 * - `waiting`: the task does nothing until a person decides the pending actions or answers the question.
 * - `rejected`: the agent refused the task.
 *
 * `completed`, `canceled`, `failed` and `rejected` are final.
 */
export type TaskState =
  | 'not-delivered'
  | 'working'
  | 'waiting'
  | 'completed'
  | 'canceled'
  | 'failed'
  | 'rejected';

export interface PendingAction {
  callId: string;
  /**
   * The code (a hash) of what the person sees. D2: a decision is valid only for what the person saw, so each decision
   * contains this code.
   */
  shown: string;
  tool: string;
  /** One line that says what the call will do. */
  title: string;
  input: Readonly<Record<string, unknown>>;
  /** Where the tool comes from. An McpClient does not report it. */
  source?: Pick<ToolSource, 'type'> | undefined;
  sideEffect: SideEffect;
  /** Why the call waits (see `pendingReasonSchema` in `protocol/tool-approval.ts`). */
  reason: PendingReason;
  /** What the person sees before the decision. An McpClient gets the preview as text. */
  preview: Preview | { type: 'text'; text: string };
  /**
   * The workspace of the task, on the agent's machine. The paths of the preview are relative to it. Present if the call
   * changes files.
   */
  workspace?: string | undefined;
  /** The time in RFC 3339 after which no decision is possible. Null if the action never expires. */
  expiresAt: string | null;
  /** True if an approval or an edit must contain a passkey assertion. */
  presence?: true | undefined;
  /**
   * Says who may approve or edit the action, if the server's policy demands a special approver. If the user of this
   * client is not allowed to, `decisions` contains neither `approve` nor `edit`. If the user's token lacks the role for
   * decisions, `decisions` is empty.
   */
  approver?: DemandedApprover | undefined;
  decisions: readonly DecisionWord[];
}

export interface RunningTool {
  /** The id with which a client aborts this tool execution. */
  toolId: string;
  tool: string;
  title: string;
  /** The start time in RFC 3339. Null if unknown. */
  startedAt: string | null;
}

export interface TaskReport {
  /** The id of the session. A new task with this id continues the conversation. */
  sessionId: string;
  taskId: string | null;
  state: TaskState;
  /**
   * The agent's message about the state, e.g. why the task failed. For `not-delivered`, the message contains the cause
   * and the time of the next attempt.
   */
  message: string;
  /**
   * Names the tool calls that a completed task did not do, e.g. `not done: Write a.txt (denied)`. '' if there are none.
   */
  notDone: string;
  output: string;
  pending: readonly PendingAction[];
  /** The agent's question, if the task waits for an answer in plain text. Otherwise null. */
  question: string | null;
  tools: readonly RunningTool[];
  /** The `seq` of the last event in this report. Null over MCP, which has no such number. */
  cursor: number | null;
}

export function hasEnded({ state }: Pick<TaskReport, 'state'>): boolean {
  return state === 'completed' || state === 'canceled' || state === 'failed' || state === 'rejected';
}

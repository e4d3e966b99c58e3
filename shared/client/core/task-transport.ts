/** The operations on one task. A2A and MCP have one implementation each. */
import type { OnProgress } from './progress.ts';
import type { TaskReport } from './task-report.ts';
import type { Decision, GrantsToRevoke } from './task-request.ts';

export interface TaskTransport {
  /** The current state of the task. Undefined until the server has sent the task id. */
  readonly report: TaskReport | undefined;
  /**
   * Starts the task, or attaches to it, and follows it to its end. Reconnects after a lost connection. The caller calls
   * this method once.
   * @param reading if this signal aborts, the client stops reading. E4: a closed connection stops no task, so the task
   * continues.
   * @throws ClientError
   */
  follow(tell: OnProgress, reading: AbortSignal): Promise<TaskReport>;
  /**
   * Cancels the task, as soon as the server has sent the task id. A cancel after the end has no effect.
   * @throws ClientError
   */
  cancel(reason: string): Promise<void>;
  /** Cancels while the page unloads. Sends the request at once and ignores the response. */
  cancelLeaving(reason: string): void;
  decide(decisions: readonly Decision[]): Promise<void>;
  /** Revokes grants: decisions that also cover later tool calls. @throws ClientError */
  revoke(grants: GrantsToRevoke): Promise<void>;
  /** Sends text to the agent: an answer to its question, or a message for its next turn. @throws ClientError */
  say(text: string): Promise<void>;
}

/** The operations on one task. A2A and MCP have one implementation each. */
import type { OnProgress } from './progress.ts';
import type { TaskReport } from './task-report.ts';
import type { Decision, Grants } from './task-request.ts';

export interface TaskTransport {
  /** The current state of the task. Undefined until the server has sent the task id. */
  readonly report: TaskReport | undefined;
  /**
   * Starts or attaches to the task and follows it to its end. Reconnects as often as needed. The caller calls this
   * once.
   * @param reading an abort ends the reading, and the task continues (E4)
   * @throws ClientError
   */
  follow(tell: OnProgress, reading: AbortSignal): Promise<TaskReport>;
  /** Cancels the task. Waits for the task id first. Has no effect after the end. @throws ClientError */
  cancel(reason: string): Promise<void>;
  /** Cancels while the page unloads. Sends the request at once and ignores the response. */
  cancelLeaving(reason: string): void;
  decide(decisions: readonly Decision[]): Promise<void>;
  /** Revokes grants that came with decisions. @throws ClientError */
  revoke(grants: Grants): Promise<void>;
  /** Sends text to the agent: an answer to its question, or a message for its next turn. @throws ClientError */
  say(text: string): Promise<void>;
}

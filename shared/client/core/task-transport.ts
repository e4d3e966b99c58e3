/** The operations on one task, implemented once for A2A and once for MCP. */
import type { OnProgress } from './progress.ts';
import type { TaskReport } from './task-report.ts';
import type { Decision, Grants } from './task-request.ts';

export interface TaskTransport {
  /** The current state of the task; undefined until the server has sent the task id. */
  readonly report: TaskReport | undefined;
  /**
   * Starts or attaches to the task and follows it to its end, over as many connections as needed. Call it once.
   * @param reading stops the reading when it aborts; the task continues (E4)
   * @throws ClientError
   */
  follow(tell: OnProgress, reading: AbortSignal): Promise<TaskReport>;
  /** Cancels the task. Without a task id yet, it waits for the id. No effect after the end. @throws ClientError */
  cancel(reason: string): Promise<void>;
  /** Cancels while the page unloads. It sends the request at once and ignores the answer. */
  cancelLeaving(reason: string): void;
  /** @throws ClientError */
  decide(decisions: readonly Decision[]): Promise<void>;
  /** Revokes trust that decisions gave. @throws ClientError */
  revoke(grants: Grants): Promise<void>;
  /** Sends text to the agent: an answer to its question, or a message for its next turn. @throws ClientError */
  say(text: string): Promise<void>;
}

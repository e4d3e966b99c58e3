/** What one protocol does for one task. An execution is a line with a beginning and an end. */
import type { Tell } from './progress.ts';
import type { TaskReport } from './task-report.ts';
import type { Decision } from './task-request.ts';

export interface TaskLine {
  /** Where the task stands; undefined until the server has named it. */
  readonly report: TaskReport | undefined;
  /**
   * Starts or finds the task and reads on until it has ended, over as many connections as that takes. Once.
   * @param reading ends the reading when it aborts, and stops nothing (E4)
   * @throws ClientError
   */
  follow(tell: Tell, reading: AbortSignal): Promise<TaskReport>;
  /** Ends the task; one that is not named yet as soon as it is. Of one that has ended it is a no-op. @throws ClientError */
  cancel(reason: string): Promise<void>;
  /** The same in the last moment of a page: sent at once or not at all, and nobody reads the answer. */
  cancelLeaving(reason: string): void;
  /** @throws ClientError */
  decide(decisions: readonly Decision[]): Promise<void>;
  /** Says something to the agent: an answer to its question, or a message for its next turn. @throws ClientError */
  say(text: string): Promise<void>;
}

/** One delegation, as a sequence of single requests. Each request may be cut and tried again. */
import type { A2aClient } from './a2a-client.ts';
import type { Workload } from './workload.ts';

export interface Flow {
  readonly workload: Workload;
  /** True if each effect of the task needs a decision. */
  readonly asks: boolean;
  /** Undefined until the server has named the task. */
  readonly taskId: string | undefined;
  readonly done: boolean;
  /** The decisions that the server has confirmed. The journal must contain each of them. */
  readonly accepted: readonly { callId: string; decision: string }[];
  /**
   * True if the sender never repeats a decision. Otherwise the journal may contain a decision more often than
   * `accepted` does.
   */
  readonly exact: boolean;
  /** Sends the next request. @throws Disconnected if the answer was lost. Then the caller calls `step` again. */
  step(client: A2aClient): Promise<void>;
}

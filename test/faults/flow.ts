/** One delegation, as a sequence of single requests. Each request may be cut and tried again. */
import type { A2aClient } from './a2a-client.ts';
import type { Workload } from './workload.ts';

export interface Flow {
  readonly workload: Workload;
  /** Whether effects need a decision. */
  readonly asks: boolean;
  /** Undefined until the server has named the task. */
  readonly taskId: string | undefined;
  readonly done: boolean;
  /** Decisions with a confirmed acceptance. The journal must contain them. */
  readonly accepted: readonly { callId: string; decision: string }[];
  /**
   * Whether the sender repeats no decision. Otherwise the journal may contain a decision more often than it was
   * confirmed.
   */
  readonly exact: boolean;
  /** Sends the next request. @throws Disconnected if the answer was lost; then the caller tries again */
  step(client: A2aClient): Promise<void>;
}

/** One delegation, taken from its start to its end in single requests, each of which may be cut off and tried again. */
import type { A2aClient } from './a2a-client.ts';
import type { Workload } from './workload.ts';

export interface Flow {
  readonly workload: Workload;
  /** Whether effects wait for a decision. */
  readonly asks: boolean;
  /** Known as soon as the server has named it. */
  readonly taskId: string | undefined;
  readonly done: boolean;
  /** Decisions whose acceptance was heard of: they must be in the journal. */
  readonly accepted: readonly { callId: string; decision: string }[];
  /** Whether a decision may be in the journal more often than once was heard: its sender cannot repeat itself. */
  readonly exact: boolean;
  /** The next request. @throws Disconnected when its end was not heard; then it is to be made again. */
  step(client: A2aClient): Promise<void>;
}

/** The reason why an abort scope ends. A1: each stop has a named reason. `message` is for the journal. */
import type { StopReason } from '../../../shared/protocol/tool-approval.ts';

export interface AbortCause {
  reason: StopReason;
  message: string;
}

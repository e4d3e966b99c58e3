/** The reason for which an abort scope closes (A1), and a message for the journal. */
import type { StopReason } from '../../shared/protocol/tool-approval.ts';

export interface AbortCause {
  reason: StopReason;
  message: string;
}

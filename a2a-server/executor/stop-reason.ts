/** Why an abort scope closes (A1): one of the named reasons, and a sentence for the record. */
import type { StopReason } from '../../shared/protocol/tool-approval.ts';

export interface StopCause {
  reason: StopReason;
  message: string;
}

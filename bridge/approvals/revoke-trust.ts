/** Revokes trust: decisions that also cover later tool calls. The MCP tool and the command line use this function. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { RevokePart } from '../../shared/protocol/tool-approval.ts';
import { deliverContent } from '../sessions/deliver-content.ts';
import type { Session } from '../sessions/session/session.ts';
import type { DecisionChannel } from '../settings/approval-mode.ts';

/**
 * Sends the revocation. Resolves when the agent has received it, and the session shows the task without that trust.
 * @throws ProductError UNKNOWN_GRANT or TASK_ENDED from the agent; INVALID_DECISION if the agent does not support
 * revocation
 */
export function revokeTrust(
  session: Session,
  revoke: RevokePart['revoke'],
  channel: DecisionChannel,
): Promise<void> {
  return deliverContent(session, (dialect) => {
    const phrase = dialect.phraseRevocation?.(revoke, channel);
    if (phrase !== undefined) return phrase;
    throw new ProductError(
      'INVALID_DECISION',
      `Agent "${session.agent.name}" does not support revoking trust; nothing was sent. To end the trust, cancel the task.`,
    );
  });
}

/** Revokes trust: decisions that also cover later tool calls. The MCP tool and the command line use this function. */
import { randomUUID } from 'node:crypto';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { RevokePart } from '../../shared/protocol/tool-approval.ts';
import type { Session } from '../sessions/session/session.ts';
import type { DecisionChannel } from '../settings/approval-mode.ts';

/**
 * Sends the revocation. Resolves when the agent has received it, and the session shows the task without that trust.
 * @throws ProductError UNKNOWN_GRANT or TASK_ENDED from the agent; INVALID_DECISION if the agent does not support
 * revocation
 */
export async function revokeTrust(
  session: Session,
  revoke: RevokePart['revoke'],
  channel: DecisionChannel,
): Promise<void> {
  const { buildUserMessage } = await import('../sessions/delegation-message.ts');
  const messageId = randomUUID();
  await session.deliver((dialect) => {
    const phrase = dialect.phraseRevocation?.(revoke, channel);
    if (phrase === undefined)
      throw new ProductError(
        'INVALID_DECISION',
        `Agent "${session.agent.name}" does not support revoking trust; nothing was sent. To end the trust, cancel the task.`,
      );
    return buildUserMessage(phrase, {
      messageId,
      sessionId: session.id,
      taskId: session.view?.taskId ?? null,
    });
  });
}

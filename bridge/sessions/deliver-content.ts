/** Sends a message about the current task of a session: a decision, a revocation, or a text. */
import { randomUUID } from 'node:crypto';
import type { Dialect, MessageContent } from '../dialects/dialect.ts';
import type { DeliveryOptions } from './session/message-sender.ts';
import type { Session } from './session/session.ts';

/**
 * Sends the message. Each attempt builds the content again, with the same message id.
 * @throws the errors of `Session.deliver`, and those of `phrase`
 */
export async function deliverContent(
  session: Session,
  phrase: (dialect: Dialect) => MessageContent,
  options?: DeliveryOptions,
): Promise<void> {
  const { buildUserMessage } = await import('./delegation-message.ts');
  const messageId = randomUUID();
  return session.deliver(
    (dialect) =>
      buildUserMessage(phrase(dialect), {
        messageId,
        sessionId: session.id,
        taskId: session.view?.taskId ?? null,
      }),
    options,
  );
}

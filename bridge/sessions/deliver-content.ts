/** Sends a message about the current task of a session: a decision, a revocation, or a text. */
import { randomUUID } from 'node:crypto';
import type { Dialect, MessageContent } from '../dialects/dialect.ts';
import type { DeliveryOptions } from './session/message-sender.ts';
import type { Session } from './session/session.ts';

/**
 * Sends the message. Each attempt builds the content again, with the same ids.
 * @param options returns the options at the start of the delivery
 * @throws the errors of `Session.deliver`, and those of `phrase`
 */
export async function deliverContent(
  session: Session,
  phrase: (dialect: Dialect) => MessageContent,
  options: () => DeliveryOptions = () => ({}),
): Promise<void> {
  const { buildUserMessage } = await import('./delegation-message.ts');
  const ids = { messageId: randomUUID(), sessionId: session.id, taskId: session.view?.taskId ?? null };
  return session.deliver((dialect) => buildUserMessage(phrase(dialect), ids), options());
}

/** Decides whether a later message takes a recorded cancel back: the person then wants the task to go on. Pure. */
import type { OutboxEntry } from '../state/outbox-entry.ts';

/**
 * Returns true if a later message to the same task is open, or if the entry of `messageId` is not open any more.
 * @param open the open entries of all the user's bridges, oldest first
 * @param messageId the message with the cancel
 * @param taskId the task of that message
 */
export function isTakenBack(open: readonly OutboxEntry[], messageId: string, taskId: string): boolean {
  const at = open.findIndex((entry) => entry.messageId === messageId);
  const agent = open[at]?.agent;
  return (
    agent === undefined ||
    open
      .slice(at + 1)
      .some(
        (later) =>
          later.agent === agent &&
          later.cancel === null &&
          (later.taskId === taskId || (later.state.type === 'accepted' && later.state.taskId === taskId)),
      )
  );
}

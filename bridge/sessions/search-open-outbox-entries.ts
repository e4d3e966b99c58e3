/** Compares the open entries of the outbox: which message is the newest, and whether a cancel is revoked. Pure. */
import type { OutboxEntry } from '../state/outbox-entry.ts';

/**
 * Returns the newest open delegation to a session.
 * @param open the open entries of all bridges of the user, oldest first
 * @param ids the session's id, and the id of its first message if the session may have no id yet
 */
export function newestEntryOfSession(
  open: readonly OutboxEntry[],
  agent: string,
  ids: readonly string[],
): OutboxEntry | undefined {
  return open.findLast(
    ({ agent: name, messageId, sessionId, state }) =>
      name === agent &&
      [messageId, sessionId, state.type === 'accepted' ? state.sessionId : null].some(
        (id) => id !== null && ids.includes(id),
      ),
  );
}

/**
 * Returns true if a recorded cancel is revoked. A later message to the task revokes it, because the person wants the
 * task to continue. It is also revoked if the entry of the message is closed.
 * @param open the open entries of all bridges of the user, oldest first
 * @param messageId the id of the message whose entry contains the cancel
 * @param taskId the id of that message's task
 */
export function isCancelRevoked(open: readonly OutboxEntry[], messageId: string, taskId: string): boolean {
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

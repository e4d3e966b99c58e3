/** Finds the newest delegation to a session. The session belongs to the client that sent it. Pure. */
import type { OutboxEntry } from '../state/outbox-entry.ts';

/**
 * @param open the open entries of all the user's bridges, oldest first
 * @param ids the session's id, and the id of its first message if it may have no id yet
 */
export function newestMessage(
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

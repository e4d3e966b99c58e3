/** Remembers when tasks were delegated. */
import type { Session } from '../../sessions/session/session.ts';
import type { Sessions } from '../../sessions/sessions.ts';

const known = new WeakMap<Session, { taskId: string; at: Date }>();

/**
 * Returns the time at which a bridge wrote the task into the outbox. If no bridge did, returns the time of the
 * session's last change.
 */
export function taskCreatedAt(sessions: Sessions, session: Session): Date {
  const taskId = session.view?.taskId ?? '';
  const before = known.get(session);
  if (before !== undefined && before.taskId === taskId) return before.at;
  const at = sessions.delegatedAt(session) ?? session.activity.changedAt;
  if (taskId !== '') known.set(session, { taskId, at });
  return at;
}

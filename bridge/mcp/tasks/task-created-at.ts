/** When tasks were delegated, as far as it is known. */
import type { Session } from '../../sessions/session.ts';
import type { Sessions } from '../../sessions/sessions.ts';

const known = new WeakMap<Session, { taskId: string; at: Date }>();

/** When the session's task was written down by whichever bridge delegated it; else when this one first saw it. */
export function taskCreatedAt(sessions: Sessions, session: Session): Date {
  const taskId = session.view?.taskId ?? '';
  const before = known.get(session);
  if (before !== undefined && before.taskId === taskId) return before.at;
  const at = sessions.delegatedAt(taskId, session.firstMessageId) ?? session.changedAt;
  if (taskId !== '') known.set(session, { taskId, at });
  return at;
}

/** Remembers the notes of the last task of each session, because a client may read the same MCP task several times. */
import type { Session } from '../../sessions/session/session.ts';

const known = new WeakMap<Session, { taskId: string; notes: readonly string[] }>();

/**
 * Returns the notes about the task: first those that this function has already returned, then the new notes of the
 * session. Takes the new notes out of the session.
 */
export function notesForRepeatedReads(session: Session, taskId: string): readonly string[] {
  const before = known.get(session);
  const notes = [...(before?.taskId === taskId ? before.notes : []), ...session.takeNotes()];
  known.set(session, { taskId, notes });
  return notes;
}

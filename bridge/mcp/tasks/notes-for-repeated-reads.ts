/** Remembers the notes of the last task of each session, because a client may read the same MCP task several times. */
import type { Session } from '../../sessions/session/session.ts';

const known = new WeakMap<Session, { taskId: string; notes: readonly string[] }>();

/**
 * Takes the new notes out of the session. Returns them after the notes that this function has already returned for
 * the task.
 */
export function notesForRepeatedReads(session: Session, taskId: string): readonly string[] {
  const before = known.get(session);
  const notes = [...(before?.taskId === taskId ? before.notes : []), ...session.takeNotes()];
  known.set(session, { taskId, notes });
  return notes;
}

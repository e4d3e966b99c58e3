/** Finds the task of a message: the named task, the session's live task, or a new task. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import { visibleTasksFilter, type Requester } from '../../access/requester.ts';
import type { Journal, TaskRow } from '../../journal/journal.ts';
import { TERMINAL_STATES } from '../../task/snapshot.ts';
import type { IdGenerator } from '../task-journal/id-generator.ts';
import { requireVisibleRow } from '../queries/task-lookup.ts';
import { isDecisionOrRevocation, type ClientMessage } from './client-message.ts';

type MessageTarget =
  | { type: 'live'; taskId: string; sessionId: string }
  | { type: 'new'; sessionId: string; previous?: TaskRow };

interface TargetLookup {
  journal: Pick<Journal, 'row' | 'session' | 'list'>;
  ids: Pick<IdGenerator, 'session'>;
}

/**
 * Finds the task for a message, or the session in which it starts a new task.
 * @throws ProductError UNKNOWN_TASK, UNKNOWN_SESSION; MALFORMED if the task belongs to another session
 */
export async function findMessageTarget(
  incoming: ClientMessage,
  { journal, ids }: TargetLookup,
): Promise<MessageTarget> {
  const { taskId, sessionId } = incoming;
  if (taskId !== undefined) {
    const row = await requireVisibleRow(journal, taskId, incoming);
    if (sessionId !== undefined && sessionId !== row.sessionId)
      throw new ProductError(
        'MALFORMED',
        `Task ${taskId} belongs to session ${row.sessionId}, not to ${sessionId}. Send that session id, or only the task id.`,
      );
    return { type: 'live', taskId, sessionId: row.sessionId };
  }
  if (sessionId === undefined) return { type: 'new', sessionId: ids.session() };
  const rows = await sessionRows(journal, incoming, sessionId);
  const last = rows.at(-1);
  if (last === undefined) throw await unknownSession(journal, incoming, sessionId);
  const live = rows.find((row) => !TERMINAL_STATES.has(row.state));
  if (live) return { type: 'live', taskId: live.taskId, sessionId };
  // The last task has ended, so it refuses this decision with a typed error.
  if (isDecisionOrRevocation(incoming)) return { type: 'live', taskId: last.taskId, sessionId };
  if (last.principal !== incoming.principal)
    throw new ProductError(
      'FORBIDDEN',
      `Session ${sessionId} belongs to ${last.principal}, and only ${last.principal} can begin its next task. Leave the session id out to begin a session of your own. Nothing was changed.`,
    );
  return { type: 'new', sessionId, previous: last };
}

/**
 * Returns the tasks of the session with this id: the requester's own session, or else a session of the requester's
 * tenant. Oldest first.
 */
async function sessionRows(
  journal: Pick<Journal, 'session' | 'list'>,
  requester: Requester,
  sessionId: string,
): Promise<TaskRow[]> {
  const own = await journal.session(requester.principal, sessionId);
  if (own.length > 0 || requester.sharing === undefined) return own;
  const { rows } = await journal.list({ ...visibleTasksFilter(requester), sessionId }, { size: 1 });
  const [newest] = rows;
  return newest === undefined ? [] : journal.session(newest.principal, sessionId);
}

async function unknownSession(
  journal: Pick<Journal, 'list'>,
  requester: Requester,
  sessionId: string,
): Promise<ProductError> {
  const { rows } = await journal.list(visibleTasksFilter(requester), { size: 20 });
  const sessions = [...new Map(rows.map((row) => [row.sessionId, row])).values()].slice(0, 10);
  const listed = sessions.map((row) => `${row.sessionId} (${row.state}: ${row.title})`).join('; ');
  return new ProductError(
    'UNKNOWN_SESSION',
    `There is no session ${sessionId}. ${sessions.length > 0 ? `Sessions: ${listed}.` : 'There are no sessions yet.'} To start a new one, leave the session id out.`,
    { facts: { sessions: sessions.map((row) => row.sessionId).join(' ') } },
  );
}

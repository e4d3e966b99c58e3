/** Builds the entries of the inbox: results that no client has collected, and tasks that wait for a person. Pure. */
import { TERMINAL_TASK_STATES } from '../../shared/protocol/task-states.ts';
import { TASK_STATE_NAMES, type SessionStateName, type TaskStateName } from '../dialects/observation.ts';
import { isSessionWaiting, type ListedSession } from '../sessions/list-sessions.ts';
import { resultKey, type UncollectedTask } from '../state/waiting-results.ts';

/**
 * One entry of the inbox. `finished`: the task has ended, and no client has collected the result. `notDone` names the
 * calls that the task did not do, as in `ListedSession`. `waiting`: the task waits for a person.
 */
export type InboxEntry = {
  sessionId: string;
  agent: string;
  taskId: string;
  state: SessionStateName;
  title: string;
} & ({ type: 'finished'; notDone: string } | { type: 'waiting'; pending: number });

/** An entry and its key. If a waiting task asks for something else, its entry gets another key. */
export interface KeyedInboxEntry {
  key: string;
  entry: InboxEntry;
}

const ENDED: readonly SessionStateName[] = [...TERMINAL_TASK_STATES, 'unknown-to-agent'];

/**
 * Returns the entries of the inbox. Tasks that wait for a person come first.
 * @param sessions the sessions as the agents list them
 * @param uncollected the delegations of all bridges of the user. If no bridge has recorded how a task ended, the state
 * in `sessions` counts.
 */
export function inboxEntries(
  sessions: readonly ListedSession[],
  uncollected: readonly UncollectedTask[],
): readonly KeyedInboxEntry[] {
  const listed = new Map(
    sessions.flatMap((session) =>
      session.taskId === null ? [] : [[resultKey({ ...session, taskId: session.taskId }), session]],
    ),
  );
  const waiting = [...listed].flatMap(([key, session]): KeyedInboxEntry[] => {
    const { sessionId, agent, taskId, state, title, pending, codes, updatedAt } = session;
    if (taskId === null || !isSessionWaiting(session)) return [];
    const asks = codes.length === 0 ? [updatedAt] : codes;
    return [
      {
        key: ['waiting', key, ...asks].join(' '),
        entry: { type: 'waiting', sessionId, agent, taskId, state, title, pending },
      },
    ];
  });
  const finished = uncollected.flatMap((task): KeyedInboxEntry[] => {
    const { sessionId, agent, taskId, title, ended } = task;
    const key = resultKey(task);
    const session = listed.get(key);
    const state = ended === 'unknown' ? 'unknown-to-agent' : (ended ?? session?.state);
    if (state === undefined || !ENDED.includes(state)) return [];
    const notDone = session?.notDone ?? '';
    const entry = { type: 'finished', sessionId, agent, taskId, state, notDone, title } as const;
    return [{ key: `finished ${key}`, entry }];
  });
  return [...waiting, ...finished];
}

/**
 * Returns the sessions whose delegation belongs to this bridge and has no recorded end. Each returned session has the
 * title of its delegation.
 */
export function ownOpenSessions(
  tasks: readonly UncollectedTask[],
  sessions: readonly ListedSession[],
): readonly ListedSession[] {
  const own = new Map(
    tasks.flatMap((task) => (task.own && task.ended === null ? [[resultKey(task), task.title]] : [])),
  );
  return sessions.flatMap((session) => {
    if (session.taskId === null) return [];
    const title = own.get(resultKey({ ...session, taskId: session.taskId }));
    return title === undefined ? [] : [{ ...session, title }];
  });
}

/** Returns the final state that is recorded for a finished task. */
export function entryEndState({ state }: InboxEntry): TaskStateName {
  return TASK_STATE_NAMES.find((each) => each === state) ?? 'unknown';
}

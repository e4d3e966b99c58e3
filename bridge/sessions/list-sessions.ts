/** Lists sessions from three sources: the agents, the outbox, and the sessions in memory. */
import type { Task } from '@a2a-js/sdk';
import type { Agent } from '../agents/agent.ts';
import type { AgentFailure } from '../agents/ask-each.ts';
import type { SessionStateName } from '../dialects/observation.ts';
import type { OutboxEntry } from '../state/outbox-entry.ts';
import { notDoneText } from '../../shared/protocol/not-done-text.ts';
import { agentCommandText, commandPartSchema } from '../../shared/protocol/agent-command.ts';
import type { NonTerminalTaskState } from '../../shared/protocol/task-states.ts';
import type { PendingInput, Dialect } from '../dialects/dialect.ts';
import { dataOfPart } from '../dialects/parts.ts';
import { hasIdPrefix } from './id-prefix.ts';
import { encodeMcpTaskId } from './mcp-task-id.ts';
import { taskTitleOf } from './task-title.ts';
import type { Session } from './session/session.ts';
import { sessionCostUsd, viewOfWholeTask } from './session/observed-task.ts';

export interface ListedSession {
  sessionId: string;
  agent: string;
  taskId: string | null;
  state: SessionStateName;
  /**
   * Names the tool calls that a completed task did not do, such as `not done: Write a.txt (denied)`. '' if there are
   * none.
   */
  notDone: string;
  /** The first words of the task. '' if unknown. */
  title: string;
  /** The time of the last update in RFC 3339. '' if the agent does not report it. */
  updatedAt: string;
  pending: number;
  /**
   * The codes of the pending actions and the question, as far as known. D2: a decision is valid only for what the
   * person saw, and contains its code.
   */
  codes: readonly string[];
  /** The ids of calls that wait for a decision, as far as known. */
  callIds: readonly string[];
  /** The cost of the session's tasks in US dollars. Null if unknown. */
  usd: number | null;
  /**
   * The directory in which the task works. Absent if no bridge of this user named a directory when it delegated the
   * task.
   */
  workspace?: string;
}

export interface SessionListing {
  sessions: readonly ListedSession[];
  /** The agents that did not respond, with their errors. */
  unreachable: readonly AgentFailure[];
  /** The number of existing tasks that were not read for this list. */
  unread: number;
}

/** A query for sessions. An empty query matches all sessions. */
export interface SessionQuery {
  agent?: Agent | undefined;
  /** Selects only sessions whose task is in one of these states. The agents apply this filter. */
  states?: readonly NonTerminalTaskState[] | undefined;
  /**
   * The maximum number of tasks per agent, newest first. Tasks that wait for a person are always listed in addition.
   */
  newest?: number | undefined;
}

/** The states in which a task waits for a person. */
export const WAITING_STATES: readonly NonTerminalTaskState[] = ['input-required', 'auth-required'];

export interface AgentSessions {
  sessions: readonly UnmergedSession[];
  listsTasks: boolean;
  unread: number;
}

/** A session from one source, with the ids of its messages, as far as this source knows them. */
export type UnmergedSession = ListedSession & { messageIds: readonly string[] };

/**
 * Lists the sessions of one agent. The tasks that wait for a person are requested first, so that the limit does not cut
 * them off.
 */
export async function listSessionsOfAgent(
  agent: Agent,
  { states, newest }: Pick<SessionQuery, 'states' | 'newest'>,
): Promise<AgentSessions> {
  return agent.ask(async (connection) => {
    const found = new Map<string, Task>();
    let unread = 0;
    for (const state of states ?? WAITING_STATES) {
      const listed = await connection.list({ state });
      if (listed === null) return { sessions: [], listsTasks: false, unread: 0 };
      for (const task of listed.tasks) found.set(task.id, task);
      unread += listed.total - listed.tasks.length;
    }
    if (states === undefined) {
      const all = await connection.list({}, newest);
      for (const task of all?.tasks ?? []) found.set(task.id, task);
      unread = Math.max(0, (all?.total ?? 0) - found.size);
    }
    const sessions = [...found.values()].flatMap((task) => listedTask(agent, task, connection.dialect));
    return { sessions, listsTasks: true, unread };
  });
}

function listedTask(agent: Agent, task: Task, dialect: Dialect): UnmergedSession[] {
  const view = viewOfWholeTask(task, dialect);
  if (view === undefined) return [];
  const { taskId, sessionId, state, pending, calls, cost } = view;
  return [
    {
      sessionId,
      agent: agent.name,
      taskId,
      state,
      notDone: notDoneText(state, calls),
      title: taskTitleOf(firstWords(task)),
      updatedAt: task.status?.timestamp ?? '',
      pending: pending.length,
      codes: codesOf(view),
      callIds: pending.map(({ callId }) => callId),
      usd: sessionCostUsd(cost),
      messageIds: task.history.map((message) => message.messageId),
    },
  ];
}

/** Returns the codes of the actions and of the question that wait. */
export function codesOf({ pending, question }: PendingInput): string[] {
  return [...pending.map(({ shown }) => shown), ...(question === null ? [] : [question.shown])];
}

function firstWords(task: Task): string {
  for (const message of task.history) {
    for (const part of message.parts) {
      if (part.content?.$case === 'text') return part.content.value;
      const command = commandPartSchema.safeParse(dataOfPart(part));
      if (command.success) return agentCommandText(command.data);
    }
  }
  return '';
}

/** Converts a session in memory. Its title and time are missing, because the other sources have them. */
export function listedLiveSession(session: Session): UnmergedSession {
  const { view, agent, id, firstMessageId, stateName, pendingInput } = session;
  return {
    sessionId: id,
    agent: agent.name,
    taskId: view === undefined || view.taskId === '' ? null : view.taskId,
    state: stateName,
    notDone: notDoneText(stateName, view?.calls ?? []),
    title: '',
    updatedAt: '',
    pending: pendingInput.pending.length,
    codes: codesOf(pendingInput),
    callIds: pendingInput.pending.map(({ callId }) => callId),
    usd: sessionCostUsd(view?.cost),
    // The list leaves out an outbox entry whose message id is in `messageIds`. The entry of an undelivered session must
    // stay in the list, because only the entry has the title.
    messageIds: view === undefined ? [] : [firstMessageId],
  };
}

/**
 * Converts an outbox entry to a session of the list.
 * @param of `isForgotten` is true if the agent's list is complete and does not contain this task
 */
export function listedOutboxEntry(entry: OutboxEntry, of: { isForgotten?: boolean } = {}): UnmergedSession {
  const { state } = entry;
  const known = state.type === 'accepted' || state.type === 'collected';
  return {
    sessionId: known ? state.sessionId : (entry.sessionId ?? entry.messageId),
    agent: entry.agent,
    taskId: (known ? state.taskId : entry.taskId) || null,
    state: stateOf(state, of.isForgotten === true),
    notDone: '',
    title: entry.title,
    updatedAt: entry.createdAt,
    pending: 0,
    codes: [],
    callIds: [],
    usd: null,
    messageIds: [entry.messageId],
  };
}

/**
 * Adds the workspace to each session whose delegation names one. If several delegations of a session name one, the
 * newest counts.
 */
export function withWorkspaces(
  sessions: readonly ListedSession[],
  entries: readonly OutboxEntry[],
  agents: readonly Pick<Agent, 'name' | 'workspaceForUser'>[],
): readonly ListedSession[] {
  const workspaces = new Map(
    entries
      .filter(({ settings }) => settings.workspace !== undefined)
      .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
      .map((entry) => [sessionKey(listedOutboxEntry(entry)), entry.settings.workspace]),
  );
  return sessions.map((each) => {
    const workspace = workspaces.get(sessionKey(each));
    const agent = agents.find(({ name }) => name === each.agent);
    return workspace === undefined || agent === undefined
      ? each
      : { ...each, workspace: agent.workspaceForUser(workspace) };
  });
}

/** Returns the state of an outbox entry. Only the agent knows the state of an accepted task. */
function stateOf(state: OutboxEntry['state'], isForgotten: boolean): SessionStateName {
  if (state.type === 'collected') return state.ended;
  if (state.type !== 'accepted') return 'not-delivered';
  return isForgotten ? 'unknown-to-agent' : 'unknown';
}

/**
 * Merges the sources to one row for each session. A later source overrides an earlier one, unless its last update is
 * older. So each row shows the newest task of the session. A title, time or cost that a source does not know comes from
 * an earlier source.
 */
export function mergeListedSessions(told: readonly UnmergedSession[]): readonly ListedSession[] {
  const found = new Map<string, ListedSession>();
  for (const { messageIds: _, ...each } of told) {
    const key = sessionKey(each);
    const before = found.get(key);
    if (before !== undefined && each.updatedAt !== '' && timeOf(before) > timeOf(each)) continue;
    found.set(key, {
      ...each,
      title: each.title === '' ? (before?.title ?? '') : each.title,
      usd: each.usd ?? before?.usd ?? null,
      updatedAt: each.updatedAt === '' ? (before?.updatedAt ?? '') : each.updatedAt,
    });
  }
  return [...found.values()];
}

/** Returns a key that also names the agent, because two agents may use the same session id. */
export function sessionKey({ agent, sessionId }: Pick<ListedSession, 'agent' | 'sessionId'>): string {
  return `${agent} ${sessionId}`;
}

/** Waiting sessions come first. The others follow, newest first. */
export function sortSessionsForList(sessions: readonly ListedSession[]): readonly ListedSession[] {
  return sessions.toSorted(
    (a, b) => Number(isSessionWaiting(b)) - Number(isSessionWaiting(a)) || timeOf(b) - timeOf(a),
  );
}

/** Parses the time, because agents write the same time in several ways. An unknown time is before all others. */
function timeOf({ updatedAt }: Pick<ListedSession, 'updatedAt'>): number {
  const time = Date.parse(updatedAt);
  return Number.isNaN(time) ? Number.MIN_SAFE_INTEGER : time;
}

export function isSessionWaiting({ state }: Pick<ListedSession, 'state'>): boolean {
  return WAITING_STATES.some((each) => each === state);
}

/** A session whose id or task id matches what a person typed. */
export type MatchingSession = Pick<ListedSession, 'agent' | 'sessionId' | 'taskId' | 'title'>;

export interface MatchingSessions extends Pick<SessionListing, 'unreachable'> {
  sessions: readonly MatchingSession[];
}

/** Returns the agent's sessions whose id or task id starts with the prefix. */
export async function findAgentSessionsByPrefix(
  agent: Agent,
  prefix: string,
): Promise<readonly MatchingSession[]> {
  const found = await agent.ask((connection) => connection.findByPrefix(prefix));
  if (found !== null)
    return found.tasks.map((each) => ({ ...each, agent: agent.name, title: taskTitleOf(each.title) }));
  const { sessions } = await listSessionsOfAgent(agent, {});
  return sessions.filter((each) => hasSessionPrefix(each, prefix));
}

/** Returns the MCP task id of a session, which also names the agent. Two agents may use the same session id. */
export function mcpTaskIdOfSession({
  sessionId,
  taskId,
  agent,
}: Pick<MatchingSession, 'sessionId' | 'taskId' | 'agent'>): string {
  return encodeMcpTaskId({ sessionId, taskId: taskId ?? '', agent });
}

export function hasSessionPrefix(
  { sessionId, taskId }: Pick<MatchingSession, 'sessionId' | 'taskId'>,
  prefix: string,
): boolean {
  return hasIdPrefix(sessionId, prefix) || hasIdPrefix(taskId ?? '', prefix);
}

/** Lists sessions from three sources: the agents, the outbox, and the sessions that the bridge follows. */
import type { Task } from '@a2a-js/sdk';
import type { Agent } from '../agents/agent.ts';
import { asStreamResponse } from '../agents/task-event.ts';
import type { SessionStateName } from '../dialects/observation.ts';
import type { OutboxEntry } from '../state/outbox-entry.ts';
import { commandLine, commandPart } from '../../shared/protocol/agent-command.ts';
import type { Asked } from '../dialects/dialect.ts';
import { dataOf } from '../dialects/parts.ts';
import { titleOf } from './task-title.ts';
import type { Session } from './session.ts';
import { fold } from './task-view.ts';

/** A session in a list. */
export interface ListedSession {
  sessionId: string;
  agent: string;
  taskId: string | null;
  state: SessionStateName;
  /** The first words of the task, if known. */
  title: string;
  /** RFC 3339; '' if the agent does not report it. */
  updatedAt: string;
  pending: number;
  /** The codes of what waits, if known (D2). */
  codes: readonly string[];
  /** The cost of its task in US dollars; null if unknown. */
  usd: number | null;
}

export interface Listing {
  sessions: readonly ListedSession[];
  /** Agents that failed to answer, and why. */
  unreachable: readonly { agent: string; message: string }[];
}

/** The maximum number of tasks per agent. */
const LISTED = 200;

/** A session as one source reports it, with its known message ids. */
export type AgentListing = ListedSession & { messageIds: readonly string[] };

/** The sessions that the agent lists. */
export async function listedBy(agent: Agent): Promise<readonly AgentListing[]> {
  return agent.ask(async (connection) => {
    const tasks = (await connection.list({}, LISTED)) ?? [];
    return tasks.flatMap((task) => {
      const view = fold(undefined, connection.dialect.read(asStreamResponse(task)));
      if (view === undefined) return [];
      const { taskId, sessionId, state, pending, cost } = view;
      return [
        {
          sessionId,
          agent: agent.name,
          taskId,
          state,
          title: titleOf(firstWords(task)),
          updatedAt: task.status?.timestamp ?? '',
          pending: pending.length,
          codes: codesOf(view),
          usd: cost?.usd ?? null,
          messageIds: task.history.map((message) => message.messageId),
        },
      ];
    });
  });
}

function codesOf({ pending, question }: Asked): string[] {
  return [...pending.map(({ shown }) => shown), ...(question === null ? [] : [question.shown])];
}

function firstWords(task: Task): string {
  for (const message of task.history) {
    for (const part of message.parts) {
      if (part.content?.$case === 'text') return part.content.value;
      const command = commandPart.safeParse(dataOf(part));
      if (command.success) return commandLine(command.data);
    }
  }
  return '';
}

/** Without title and time: the other sources have those. */
export function toldOf(session: Session): AgentListing {
  const { view, agent, id, firstMessageId, stateName, asked } = session;
  return {
    sessionId: id,
    agent: agent.name,
    taskId: view === undefined || view.taskId === '' ? null : view.taskId,
    state: stateName,
    title: '',
    updatedAt: '',
    pending: asked.pending.length,
    codes: codesOf(asked),
    usd: view?.cost?.usd ?? null,
    // The outbox has the title of a delegation that is not delivered.
    messageIds: view === undefined ? [] : [firstMessageId],
  };
}

/** The session of an outbox entry. */
export function ofEntry(entry: OutboxEntry): AgentListing {
  const { state } = entry;
  const known = state.type === 'accepted' || state.type === 'collected';
  return {
    sessionId: known ? state.sessionId : (entry.sessionId ?? entry.messageId),
    agent: entry.agent,
    taskId: known ? state.taskId : entry.taskId,
    state: stateOf(state),
    title: entry.title,
    updatedAt: entry.createdAt,
    pending: 0,
    codes: [],
    usd: null,
    messageIds: [entry.messageId],
  };
}

/** The agent has named the task of an accepted entry, and has its state. */
function stateOf(state: OutboxEntry['state']): SessionStateName {
  if (state.type === 'collected') return state.ended;
  return state.type === 'accepted' ? 'unknown' : 'not-delivered';
}

/** Merges the sources into one row per session. Later sources win. The newest task represents its session. */
export function merged(told: readonly AgentListing[]): readonly ListedSession[] {
  const found = new Map<string, ListedSession>();
  for (const { messageIds: _, ...each } of told) {
    const key = `${each.agent} ${each.sessionId}`;
    const before = found.get(key);
    if (before !== undefined && each.updatedAt !== '' && before.updatedAt > each.updatedAt) continue;
    found.set(key, {
      ...each,
      title: each.title === '' ? (before?.title ?? '') : each.title,
      usd: each.usd ?? before?.usd ?? null,
      updatedAt: each.updatedAt === '' ? (before?.updatedAt ?? '') : each.updatedAt,
    });
  }
  return [...found.values()];
}

export function newestFirst(sessions: readonly ListedSession[]): readonly ListedSession[] {
  return sessions.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
}

/**
 * All sessions the bridge can name: those it is following, those in the outbox of this user's bridges, and those the
 * agents list. A session that none of them knows does not exist, and is never made up (R15).
 */
import type { Task } from '@a2a-js/sdk';
import { messageOf, ProductError } from '../../shared/errors.ts';
import type { Agent } from '../agents/agent.ts';
import { asEvent } from '../agents/task-event.ts';
import type { Registry } from '../agents/registry.ts';
import type { TaskStateName } from '../dialects/observation.ts';
import type { OutboxEntry } from '../outbox/entry.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { Session } from './session.ts';
import { fold, type TaskView } from './view.ts';

/** A session in a list. */
export interface Listed {
  sessionId: string;
  agent: string;
  taskId: string | null;
  state: TaskStateName;
  /** What it is about: the first words of the task, as far as they are known. */
  title: string;
  /** RFC 3339, or '' where the agent does not say. */
  updatedAt: string;
  pending: number;
}

export interface Listing {
  sessions: readonly Listed[];
  /** Agents that could not be asked, and why. */
  unreachable: readonly { agent: string; message: string }[];
}

/** Tasks asked for of each agent. */
const LISTED = 200;
const TITLE = 80;

export class Sessions {
  readonly #registry: Registry;
  readonly #outbox: Outbox;
  readonly #live = new Set<Session>();

  constructor(registry: Registry, outbox: Outbox) {
    this.#registry = registry;
    this.#outbox = outbox;
  }

  add(session: Session): Session {
    this.#live.add(session);
    return session;
  }

  remove(session: Session): void {
    this.#live.delete(session);
    session.close();
  }

  /** The session with that handle, followed from now on. @throws ProductError UNKNOWN_SESSION, listing those that exist */
  async find(sessionId: string): Promise<Session> {
    const live = this.#findLive(sessionId);
    if (live !== undefined) return live;
    const entry = (await this.#outbox.entries()).findLast((each) => handlesOf(each).includes(sessionId));
    if (entry !== undefined) {
      const session = await this.#reopen(entry, sessionId);
      if (session !== undefined) return session;
    }
    const trouble: string[] = [];
    for (const agent of this.#registry.all) {
      try {
        const task = await this.#newestTask(agent, sessionId);
        if (task !== undefined) return this.#followed(new Session(agent, sessionId), task.id);
      } catch (error) {
        trouble.push(messageOf(error));
      }
    }
    throw await this.#unknown(sessionId, trouble);
  }

  /** Sessions of every agent, or of one, newest first. One agent in trouble does not hide the others'. */
  async list(only?: Agent): Promise<Listing> {
    const agents = only === undefined ? this.#registry.all : [only];
    const unreachable: { agent: string; message: string }[] = [];
    const found = new Map<string, Listed>();
    const note = (listed: Listed): void => {
      const key = `${listed.agent} ${listed.sessionId}`;
      const before = found.get(key);
      if (before === undefined || before.updatedAt < listed.updatedAt)
        found.set(key, { ...before, ...listed });
    };
    for (const entry of await this.#outbox.entries()) {
      if (agents.some((agent) => agent.name === entry.agent)) note(ofEntry(entry));
    }
    await Promise.all(
      agents.map(async (agent) => {
        try {
          for (const listed of await listedBy(agent)) note(listed);
        } catch (error) {
          unreachable.push({ agent: agent.name, message: messageOf(error) });
        }
      }),
    );
    for (const session of this.#live) {
      const before = found.get(`${session.agent.name} ${session.id}`);
      if (session.view === undefined || !agents.includes(session.agent)) continue;
      // What is being followed is newer than what was asked for.
      const { title = '', updatedAt = '' } = before ?? {};
      found.set(`${session.agent.name} ${session.id}`, ofView(session, session.view, { title, updatedAt }));
    }
    const sessions = [...found.values()].toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
    return { sessions, unreachable };
  }

  /** The session in which a tool execution was seen. */
  withTool(toolId: string): Session | undefined {
    return [...this.#live].find((session) => session.view?.calls.some((call) => call.toolId === toolId));
  }

  close(): void {
    for (const session of this.#live) session.close();
    this.#live.clear();
  }

  #findLive(sessionId: string): Session | undefined {
    return [...this.#live].find(
      (session) =>
        session.id === sessionId ||
        session.firstMessageId === sessionId ||
        session.view?.taskId === sessionId,
    );
  }

  async #reopen(entry: OutboxEntry, sessionId: string): Promise<Session | undefined> {
    const agent = this.#registry.find(entry.agent);
    const { state } = entry;
    if (agent === undefined) return undefined;
    if (state.type === 'lost') throw new ProductError('AGENT_UNREACHABLE', state.message);
    if (state.type === 'sending') {
      throw new ProductError(
        'AGENT_UNREACHABLE',
        `This delegation is still on its way to agent "${agent.name}". Try again in a moment.`,
      );
    }
    // Others may have gone on with the session since.
    const newest = await this.#newestTask(agent, state.sessionId);
    return this.#followed(new Session(agent, sessionId), newest?.id ?? state.taskId);
  }

  async #newestTask(agent: Agent, sessionId: string): Promise<Task | undefined> {
    const tasks = await agent.ask((connection) => connection.list({ sessionId }, 1));
    // An agent that ignores the filter must not have another session's task taken for this one's.
    return tasks?.find((task) => task.contextId === sessionId);
  }

  async #followed(session: Session, taskId: string): Promise<Session> {
    await session.refresh(taskId);
    // Somebody else may have asked for the same session meanwhile: there is one of it.
    const live = this.#findLive(session.id);
    if (live === undefined) return this.add(session);
    session.close();
    return live;
  }

  async #unknown(sessionId: string, trouble: readonly string[]): Promise<ProductError> {
    const { sessions } = await this.list();
    const named = sessions
      .slice(0, 10)
      .map((each) => `${each.sessionId} (${each.state}${each.title === '' ? '' : `: ${each.title}`})`);
    const exist =
      named.length === 0
        ? 'There are no sessions yet: start one with delegate_task_to_assistant.'
        : `The sessions that exist are: ${named.join('; ')}${sessions.length > named.length ? '; list_all_active_sessions shows more' : ''}.`;
    const unsure = trouble.length === 0 ? '' : ` Not every agent could be asked: ${trouble.join(' ')}`;
    return new ProductError('UNKNOWN_SESSION', `There is no session "${sessionId}". ${exist}${unsure}`, {
      facts: {
        sessionId,
        sessions: sessions
          .slice(0, 10)
          .map((each) => each.sessionId)
          .join(' '),
      },
    });
  }
}

async function listedBy(agent: Agent): Promise<readonly Listed[]> {
  return agent.ask(async (connection) => {
    const tasks = (await connection.list({}, LISTED)) ?? [];
    const seen = new Set<string>();
    return tasks.flatMap((task) => {
      if (seen.has(task.contextId)) return []; // The newest task stands for its session.
      seen.add(task.contextId);
      const view = fold(undefined, connection.dialect.read(asEvent(task)));
      if (view === undefined) return [];
      const { taskId, sessionId, state, pending } = view;
      return [
        {
          sessionId,
          agent: agent.name,
          taskId,
          state,
          title: titleOf(firstWords(task)),
          updatedAt: task.status?.timestamp ?? '',
          pending: pending.length,
        },
      ];
    });
  });
}

function firstWords(task: Task): string {
  for (const message of task.history) {
    for (const part of message.parts) if (part.content?.$case === 'text') return part.content.value;
  }
  return '';
}

function handlesOf({ messageId, state }: OutboxEntry): readonly string[] {
  return state.type === 'accepted' || state.type === 'collected'
    ? [messageId, state.sessionId, state.taskId]
    : [messageId];
}

function ofEntry(entry: OutboxEntry): Listed {
  const { state } = entry;
  const known = state.type === 'accepted' || state.type === 'collected';
  return {
    sessionId: known ? state.sessionId : (entry.sessionId ?? entry.messageId),
    agent: entry.agent,
    taskId: known ? state.taskId : entry.taskId,
    state: state.type === 'collected' ? 'completed' : 'unknown',
    title: titleOf(entry.text),
    updatedAt: entry.createdAt,
    pending: 0,
  };
}

function ofView(
  session: Session,
  view: TaskView,
  { title, updatedAt }: { title: string; updatedAt: string },
): Listed {
  return {
    sessionId: session.id,
    agent: session.agent.name,
    taskId: view.taskId === '' ? null : view.taskId,
    state: view.state,
    title,
    updatedAt,
    pending: view.pending.length,
  };
}

function titleOf(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > TITLE ? `${line.slice(0, TITLE)}…` : line;
}

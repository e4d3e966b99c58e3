/** The sessions that this bridge has in memory. */
import type { Agent } from '../agents/agent.ts';
import type { DecisionClaims } from '../state/decision-claims.ts';
import type { Outbox } from '../state/outbox.ts';
import { Session } from './session/session.ts';
import { readFileNamedByAgent } from './read-file-named-by-agent.ts';

const MAX_ENDED_SESSIONS = 20;

export class LiveSessions {
  readonly #outbox: Outbox;
  readonly #claims: DecisionClaims;
  readonly #sessions = new Set<Session>();
  /** Contains one object for each use of a session by a tool call. */
  readonly #uses = new Set<{ readonly session: Session }>();
  readonly #onAdded = new Set<(session: Session) => void>();
  readonly #onRemoved = new Set<(session: Session) => void>();

  constructor(outbox: Outbox, claims: DecisionClaims) {
    this.#outbox = outbox;
    this.#claims = claims;
  }

  get all(): readonly Session[] {
    return [...this.#sessions];
  }

  /** Registers a listener for every session that is added from now on. */
  onAdded(listener: (session: Session) => void): void {
    this.#onAdded.add(listener);
  }

  /** Registers a listener for every session that is removed from now on. */
  onRemoved(listener: (session: Session) => void): void {
    this.#onRemoved.add(listener);
  }

  /**
   * Creates a session. The caller then passes it to `add`.
   * @param firstMessageId the id of the message that starts the session; for an existing session, the id that a caller
   * gave
   */
  open(agent: Agent, firstMessageId: string): Session {
    return new Session(agent, firstMessageId, {
      claims: this.#claims,
      readFile: async (session, url, path) => {
        const local = agent.localPath(path, url);
        return local === undefined
          ? undefined
          : readFileNamedByAgent(local, this.#workspacesOf(session, url));
      },
    });
  }

  /** Adds the session, and removes the oldest ended sessions. A removed session can be opened again. */
  add(session: Session): Session {
    this.#sessions.add(session);
    for (const listener of this.#onAdded) listener(session);
    const used = new Set([...this.#uses].map((use) => use.session));
    const ended = this.all.filter((each) => !each.hasStream && each.over && !used.has(each));
    for (const each of ended.slice(0, -MAX_ENDED_SESSIONS)) this.remove(each);
    return session;
  }

  /** Keeps the session in memory even if its task has ended. Returns a function that allows the removal again. */
  keep(session: Session): () => void {
    const use = { session };
    this.#uses.add(use);
    return () => void this.#uses.delete(use);
  }

  remove(session: Session): void {
    this.#sessions.delete(session);
    for (const listener of this.#onRemoved) listener(session);
    session.close();
  }

  /**
   * Returns the session with this session id, task id or message id. Agents choose ids, so two agents may use the same
   * id.
   * @param agent the name of the session's agent, if known
   */
  find(handle: string, agent?: string): Session | undefined {
    return this.all.find(
      ({ id, firstMessageId, view, agent: { name } }) =>
        (id === handle || firstMessageId === handle || view?.taskId === handle) &&
        (agent === undefined || name === agent),
    );
  }

  /** Returns the name of the agent that has this task. Returns undefined if several agents have a task with this id. */
  agentNameOfTask(taskId: string): string | undefined {
    const names = new Set(this.all.flatMap(({ view, agent }) => (view?.taskId === taskId ? agent.name : [])));
    const [only, another] = names;
    return another === undefined ? only : undefined;
  }

  /**
   * Returns the session with this tool execution. Agents choose the ids, so two agents may use the same id.
   * @param agent the name of the session's agent, if known
   */
  withTool(toolId: string, agent?: string): Session | undefined {
    return this.all.find(
      ({ view, agent: { name } }) =>
        (agent === undefined || name === agent) && view?.calls.some((call) => call.toolId === toolId),
    );
  }

  close(): void {
    for (const session of this.#sessions) session.close();
    this.#sessions.clear();
  }

  /** Returns the local directories that bridges of this user gave to the session as workspaces. */
  #workspacesOf({ id, agent }: Session, url: string): string[] {
    return this.#outbox
      .findByHandle(id, agent.name)
      .flatMap(({ settings: { workspace } }) =>
        workspace === undefined ? [] : (agent.localPath(workspace, url) ?? []),
      );
  }
}

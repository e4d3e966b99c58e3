/**
 * Finds and lists sessions: in memory, in the outbox and at the agents. R15: an unknown session id is an error. The
 * bridge never creates a session for it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type ErrorReason, ProductError } from '../../shared/runtime/errors.ts';
import type { Agent } from '../agents/agent.ts';
import { askEachAgent } from '../agents/ask-each.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import type { OutboxEntry } from '../state/outbox-entry.ts';
import type { Outbox } from '../state/outbox.ts';
import { toClientSessionState } from '../dialects/session-state-for-client.ts';
import type { DelegationService } from './deliver-delegations.ts';
import { firstDigitsOfUuid, hasIdPrefix, isShortId } from './id-prefix.ts';
import { decodeMcpTaskId } from './mcp-task-id.ts';
import { findSessionAgents, readNewestTask } from './find-session-agent.ts';
import {
  type AgentSessions,
  sortSessionsForList,
  hasSessionPrefix,
  listSessionsOfAgent,
  type SessionListing,
  mergeListedSessions,
  findAgentSessionsByPrefix,
  type MatchingSession,
  type MatchingSessions,
  listedOutboxEntry,
  type SessionQuery,
  listedLiveSession,
  sessionKey,
  withWorkspaces,
} from './list-sessions.ts';
import type { LiveSessions } from './live-sessions.ts';
import type { Session } from './session/session.ts';
import { hasEnded } from './session/observed-task.ts';
import { TASK_ID_TIMEOUT_MS } from './wait-for-session.ts';

/**
 * The polling interval in milliseconds. While another bridge sends a message, this bridge polls the outbox for the
 * outcome. If the other bridge has ended, this bridge takes over the message.
 */
const POLL_MS = 100;
/** The maximum number of sessions that an error message names. */
const MAX_NAMED_SESSIONS = 10;
/** The errors for an MCP task id whose session or agent does not exist. */
const UNKNOWN: ReadonlySet<ErrorReason> = new Set<ErrorReason>(['UNKNOWN_SESSION', 'UNKNOWN_AGENT']);

interface FindOptions {
  /** The name of the only agent to ask. Undefined for all agents. */
  agent?: string | undefined;
  /** The maximum time to wait in milliseconds, if the first message of the session is still being sent. */
  timeout?: number;
  signal?: AbortSignal;
}

type Search = Omit<FindOptions, 'agent'> & { agent: Agent | undefined };

interface SessionsParts {
  registry: AgentRegistry;
  outbox: Outbox;
  live: LiveSessions;
  delegations: Pick<DelegationService, 'takeOver'>;
}

export class Sessions {
  readonly #registry: AgentRegistry;
  readonly #outbox: Outbox;
  readonly #live: LiveSessions;
  readonly #delegations: Pick<DelegationService, 'takeOver'>;

  constructor({ registry, outbox, live, delegations }: SessionsParts) {
    this.#registry = registry;
    this.#outbox = outbox;
    this.#live = live;
    this.#delegations = delegations;
  }

  /**
   * Finds a session, and opens its stream. If the first message of the session is being sent, waits until it is
   * delivered.
   * @param handle the session id, a unique start of it with at least eight characters, or an MCP task id
   * @throws ProductError UNKNOWN_SESSION, which names the existing sessions or the other agent that has the session;
   * UNKNOWN_AGENT if the named agent or that of the MCP task id is not configured; AGENT_UNREACHABLE if the message is
   * not delivered in time
   */
  async find(handle: string, { agent: name, ...options }: FindOptions = {}): Promise<Session> {
    const agent = this.#registry.named(name);
    const finding = { ...options, agent };
    const id = decodeMcpTaskId(handle);
    if (id === undefined) return this.#find(handle, finding);
    if (this.#live.find(id.sessionId, agent?.name ?? id.agent) === undefined && this.#isKnown(handle, agent))
      return this.#find(handle, finding);
    try {
      const owner = agent ?? this.#registry.named(id.agent);
      return await this.#find(id.sessionId, { ...finding, agent: owner });
    } catch (error) {
      if (!(error instanceof ProductError) || !UNKNOWN.has(error.reason)) throw error;
      // Agents choose the ids of sessions, so a session id may look like the id of an MCP task. So the text is searched
      // as a session id too. If that fails as well, the first error is thrown.
      return this.#find(handle, finding).catch(() => {
        throw error;
      });
    }
  }

  /** Returns true if this bridge, or another bridge of the user, has a session with this id. */
  #isKnown(handle: string, agent: Agent | undefined): boolean {
    return this.#live.find(handle, agent?.name) !== undefined || this.#entryOf(handle, agent) !== undefined;
  }

  async #find(sessionId: string, finding: Search): Promise<Session> {
    const { agent: named } = finding;
    if (named === undefined) this.#requireOneAgent(sessionId);
    const own = await this.#findOwn(sessionId, finding);
    if (own !== undefined) return own;
    const known = this.#idWithFirstDigits(sessionId, named);
    if (known !== undefined) return this.#find(known, finding);
    const failures: string[] = [];
    const { all } = this.#registry;
    const asked = named === undefined ? all : [named];
    const [found, ...more] = await findSessionAgents(sessionId, asked, { among: all.length, failures });
    if (found !== undefined && more.length > 0)
      throw sessionOfSeveralAgentsError(
        sessionId,
        [found, ...more].map((each) => each.agent),
      );
    if (found !== undefined) return this.#followed(this.#live.open(found.agent, sessionId), found.taskId);
    const other = named === undefined ? undefined : await this.#otherAgentOf(sessionId, named);
    if (named !== undefined && other !== undefined)
      throw sessionOfOtherAgentError(sessionId, named.name, other);
    const whole = await this.#wholeId(sessionId);
    if (whole !== undefined) return this.#find(whole, finding);
    throw await this.#unknown(sessionId, failures);
  }

  /** Finds a session in memory or in the outbox. If its first message is being sent, waits until it is delivered. */
  async #findOwn(
    sessionId: string,
    { agent: named, timeout = TASK_ID_TIMEOUT_MS, signal }: Search,
  ): Promise<Session | undefined> {
    const until = performance.now() + timeout;
    for (;;) {
      const live = this.#live.find(sessionId, named?.name);
      if (live !== undefined) return this.#caughtUp(live);
      const entry = this.#entryOf(sessionId, named);
      if (entry === undefined) return undefined;
      const { agent, state } = entry;
      const known = this.#registry.find(agent);
      if (known === undefined) throw new ProductError('UNKNOWN_AGENT', agentNotInSettingsText(agent));
      if (state.type !== 'sending') return this.#reopen(known, entry, sessionId);
      const left = until - performance.now();
      if (left <= 0 || signal?.aborted === true) throw notDeliveredYetError(agent);
      await this.#waitForChange(entry, left);
    }
  }

  /**
   * Throws if several agents have a session with this id. Agents choose ids, so two agents may use the same one.
   * Searches only memory and the outbox.
   * @throws ProductError UNKNOWN_SESSION that names the agents; STORAGE
   */
  #requireOneAgent(handle: string): void {
    const { all } = this.#registry;
    if (all.length < 2) return;
    const inMemory = all.filter(({ name }) => this.#live.find(handle, name) !== undefined);
    const recorded = this.#recordedAgents(handle, inMemory.length > 0);
    const agents = all.filter((agent) => inMemory.includes(agent) || recorded.has(agent.name));
    if (agents.length > 1) throw sessionOfSeveralAgentsError(handle, agents);
  }

  /**
   * Returns the names of the agents to which bridges of this user delegated a session with this id.
   * @param isInMemory true if this bridge has the session in memory. An error of the database is then ignored, so that
   * a person can cancel a task while the database cannot be read.
   * @throws ProductError STORAGE
   */
  #recordedAgents(handle: string, isInMemory: boolean): ReadonlySet<string> {
    try {
      return new Set(this.#outbox.findByHandle(handle).map(({ agent }) => agent));
    } catch (error) {
      if (isInMemory) return new Set();
      throw error;
    }
  }

  /**
   * Finds a session by the first digits of its id, or of its message id. The commands that a person copies contain only
   * these digits. Searches only memory and the outbox: an agent that hangs would delay the command. Returns undefined if
   * no session, or more than one, matches.
   */
  #idWithFirstDigits(digits: string, named: Agent | undefined): string | undefined {
    const known = [
      ...this.#outbox.entries().map((entry) => listedOutboxEntry(entry)),
      ...this.#live.all.map(listedLiveSession),
    ];
    const ids = known
      .filter(({ agent }) => named === undefined || agent === named.name)
      .flatMap(({ sessionId, messageIds }) => [sessionId, ...messageIds])
      .filter((id) => firstDigitsOfUuid(id) === digits);
    const [only, another] = new Set(ids);
    return another === undefined ? only : undefined;
  }

  /**
   * Returns the id of the only session that a shortened id names. A person copies shortened ids from the tables of the
   * command line. Returns undefined if there is no such session, or if there are several. An agent that cannot be
   * reached does not count: two agents hardly choose ids with the same eight characters.
   */
  async #wholeId(sessionId: string): Promise<string | undefined> {
    if (!isShortId(sessionId)) return undefined;
    const { sessions } = await this.withPrefix(sessionId);
    const [only, another] = sessions.filter((each) => hasIdPrefix(each.sessionId, sessionId));
    return another === undefined && only?.sessionId !== sessionId ? only?.sessionId : undefined;
  }

  /** Returns the name of another agent that has the session. Returns undefined if there is none. */
  async #otherAgentOf(sessionId: string, named: Agent): Promise<string | undefined> {
    const known = this.#live.find(sessionId)?.agent.name ?? this.#entryOf(sessionId)?.agent;
    if (known !== undefined) return known;
    const { all } = this.#registry;
    const others = all.filter((agent) => agent !== named);
    const [other] = await findSessionAgents(sessionId, others, { among: all.length });
    return other?.agent.name;
  }

  /** Returns the last outbox entry of the session. With `named`, ignores entries of other agents. */
  #entryOf(sessionId: string, named?: Agent): OutboxEntry | undefined {
    return this.#outbox.findByHandle(sessionId, named?.name).at(-1);
  }

  /**
   * Waits until the delegation may have changed. A failed delivery changes the state of the session, and is not an
   * error here.
   */
  async #waitForChange({ messageId }: OutboxEntry, left: number): Promise<void> {
    const taken = await this.#delegations.takeOver(messageId);
    const waits = [
      delay(Math.min(left, POLL_MS)),
      ...(taken === undefined ? [] : [taken.done.catch(() => undefined)]),
    ];
    await Promise.race(waits);
  }

  /**
   * Lists the sessions: first those that wait for a person, then the others, newest first. If an agent fails, the
   * sessions of the other agents are still listed.
   */
  async list(query: SessionQuery = {}): Promise<SessionListing> {
    const { agent: only, states } = query;
    const agents = only === undefined ? this.#registry.all : [only];
    const { answers, unreachable } = await askEachAgent(agents, (agent) => listSessionsOfAgent(agent, query));
    const open = this.#live.all.filter((session) => agents.includes(session.agent));
    // Later sources override earlier ones. A session with an open stream is newer than the agent's list, so it comes
    // after the list. Any other session in memory may be older, so it comes before the list.
    const followed = open.filter((session) => session.hasStream).map(listedLiveSession);
    const remembered = open.filter((session) => !session.hasStream).map(listedLiveSession);
    const byAgents = [...answers.values()].flatMap(({ sessions }) => sessions);
    const known = [...remembered, ...byAgents, ...followed];
    const arrived = new Set(known.flatMap((each) => each.messageIds));
    const isListed = (entry: OutboxEntry): boolean =>
      arrived.has(entry.messageId) && !isTitleOnlyInOutbox(entry, answers.get(entry.agent));
    const delegations = this.#outbox.entries();
    const entries = delegations
      // Omits delegations that are already in a list, and entries of agents that are not configured.
      .filter((entry) => agents.some((agent) => agent.name === entry.agent) && !isListed(entry))
      .filter((entry) => !isLeftOut(entry, query, answers.get(entry.agent)))
      .map((entry) => listedOutboxEntry(entry, { isForgotten: listsAll(query, answers.get(entry.agent)) }));
    const merged = withWorkspaces(mergeListedSessions([...entries, ...known]), delegations, agents);
    const all = sortSessionsForList(merged);
    const sessions = states === undefined ? all : all.filter(({ state }) => includesState(states, state));
    const unread = [...answers.values()].reduce((sum, each) => sum + each.unread, 0);
    return { sessions, unreachable, unread };
  }

  /**
   * Returns the sessions whose id or task id starts with the prefix. The kind of the id, such as `session-`, may be
   * omitted in the prefix. Two agents may use the same session id.
   */
  async withPrefix(prefix: string): Promise<MatchingSessions> {
    const { answers, unreachable } = await askEachAgent(this.#registry.all, (agent) =>
      findAgentSessionsByPrefix(agent, prefix),
    );
    const entries = this.#outbox.entries().map((entry) => listedOutboxEntry(entry));
    const own = [...entries, ...this.#live.all.map(listedLiveSession)].filter((each) =>
      hasSessionPrefix(each, prefix),
    );
    const found = new Map<string, MatchingSession>();
    for (const each of [...own, ...[...answers.values()].flat()]) found.set(sessionKey(each), each);
    return { sessions: [...found.values()], unreachable };
  }

  /** Returns the time at which a bridge of this user delegated the session's task. Returns undefined if none did. */
  delegatedAt({ agent, view, firstMessageId }: Session): Date | undefined {
    const entry = this.#outbox.findByTaskOrMessage(agent.name, view?.taskId ?? '', firstMessageId);
    return entry === undefined ? undefined : new Date(entry.createdAt);
  }

  /**
   * If the session's task has ended, opens the newest task of the session. Another client may have started a newer
   * task.
   */
  async #caughtUp(session: Session): Promise<Session> {
    const { view, agent } = session;
    if (view === undefined || !hasEnded(view) || view.sessionId === '') return session;
    // If the agent cannot be reached, the session keeps its last known state.
    const newest = await readNewestTask(agent, view.sessionId).catch(() => undefined);
    if (newest !== undefined && newest.id !== view.taskId) {
      // The newest task may have vanished since the list was read.
      await session.fetchTask(newest.id).catch(() => undefined);
      session.follow();
    }
    return session;
  }

  async #reopen(agent: Agent, { state }: OutboxEntry, sessionId: string): Promise<Session> {
    const session = this.#live.open(agent, sessionId);
    if (state.type === 'lost') session.giveUp(new ProductError('AGENT_UNREACHABLE', state.message));
    if (state.type === 'lost' || state.type === 'sending') return session;
    // Another client may have continued the session with a newer task. So the newest task is opened.
    const newest = await readNewestTask(agent, state.sessionId);
    if (newest === undefined && state.taskId === '') session.forget(state, agentKeepsNoTaskError(agent));
    return this.#followed(session, newest?.id ?? state.taskId, state);
  }

  /**
   * Fetches the task, follows it, and returns the session. If another tool call has opened the same session meanwhile,
   * closes this session object and returns the other one.
   * @param delegated the task, if a bridge of this user delegated it. If the agent no longer knows the task, the
   * session records that; without `delegated`, the error is thrown.
   */
  async #followed(
    session: Session,
    taskId: string,
    delegated?: { taskId: string; sessionId: string },
  ): Promise<Session> {
    await session.fetchTask(taskId).catch((error: unknown) => {
      if (delegated === undefined || !(error instanceof ProductError) || error.reason !== 'UNKNOWN_TASK')
        throw error;
      session.forget(delegated, error);
    });
    session.follow();
    // Another tool call may have opened the same session meanwhile. Then that session object is used.
    const live = this.#live.find(session.id, session.agent.name);
    if (live === undefined) return this.#live.add(session);
    session.close();
    return live;
  }

  async #unknown(sessionId: string, failures: readonly string[]): Promise<ProductError> {
    const { sessions } = await this.list({ newest: MAX_NAMED_SESSIONS });
    const named = sessions
      .slice(0, MAX_NAMED_SESSIONS)
      .map(
        (each) =>
          `${each.sessionId} (${toClientSessionState(each.state)}${each.title === '' ? '' : `: ${each.title}`})`,
      );
    const exist =
      named.length === 0
        ? 'There are no sessions yet: start one with delegate_task_to_assistant.'
        : `The sessions that exist are: ${named.join('; ')}${sessions.length > named.length ? '; list_all_active_sessions shows more' : ''}.`;
    const unsure = failures.length === 0 ? '' : ` Not every agent answered: ${failures.join(' ')}`;
    return new ProductError('UNKNOWN_SESSION', `There is no session "${sessionId}". ${exist}${unsure}`, {
      facts: {
        sessionId,
        sessions: sessions
          .slice(0, MAX_NAMED_SESSIONS)
          .map((each) => each.sessionId)
          .join(' '),
      },
    });
  }
}

/** Returns true if the agent's list contains every task that the agent knows. */
function listsAll({ states }: SessionQuery, answer: AgentSessions | undefined): boolean {
  return states === undefined && answer?.listsTasks === true && answer.unread === 0;
}

/**
 * Returns true if the agent has accepted this delegation and lists its tasks, but the bridge has read only a part of
 * the list. The query chose states or a number of tasks, or some tasks were not read. The part may omit this task.
 */
function isLeftOut(
  { state: { type } }: OutboxEntry,
  { states, newest }: SessionQuery,
  answer: AgentSessions | undefined,
): boolean {
  if (answer?.listsTasks !== true || (type !== 'accepted' && type !== 'collected')) return false;
  return states !== undefined || newest !== undefined || answer.unread > 0;
}

/**
 * Returns true if only the outbox has the title and the time of this delegation, because the agent does not list its
 * tasks. A session in memory has neither.
 */
function isTitleOnlyInOutbox({ state: { type } }: OutboxEntry, answer: AgentSessions | undefined): boolean {
  return answer?.listsTasks !== true && (type === 'accepted' || type === 'collected');
}

function includesState(states: readonly string[], state: string): boolean {
  return states.includes(state) || state === 'unknown';
}

function sessionOfSeveralAgentsError(sessionId: string, agents: readonly Agent[]): ProductError {
  const names = agents.map(({ name }) => `"${name}"`).join(', ');
  return new ProductError(
    'UNKNOWN_SESSION',
    `Several agents have a session "${sessionId}": ${names}. Call again with agent set to one of them.`,
    { facts: { sessionId } },
  );
}

function sessionOfOtherAgentError(sessionId: string, named: string, agent: string): ProductError {
  return new ProductError(
    'UNKNOWN_SESSION',
    `Session "${sessionId}" is with agent "${agent}", not with "${named}". Leave out agent, or name "${agent}", to continue it. To start something with "${named}", leave out sessionId.`,
    { facts: { sessionId, agent } },
  );
}

function notDeliveredYetError(agent: string): ProductError {
  return new ProductError(
    'AGENT_UNREACHABLE',
    `This delegation is not delivered yet: another process of the bridge is sending it to agent "${agent}". It is not lost: call wait_for_task again with the same sessionId.`,
  );
}

/**
 * The error for a session in which the agent has answered with a message, and has created no task. The answer was only
 * in the reply to an earlier tool call, so it cannot be read again.
 */
function agentKeepsNoTaskError({ name }: Agent): ProductError {
  return new ProductError(
    'UNKNOWN_TASK',
    `Agent "${name}" answered with a message and keeps no task. The answer was in the reply of that time, and cannot be read again.`,
  );
}

function agentNotInSettingsText(agent: string): string {
  return `This session is with agent "${agent}", which is not in the bridge's settings any more. Configure it again to go on.`;
}

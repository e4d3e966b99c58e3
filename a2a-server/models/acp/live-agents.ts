/**
 * Manages the ACP agents of this process, at most one per session.
 *
 * A task that waits for a person keeps its agent, because the agent keeps the permission request open. After `idleMs`
 * without use, the agent is ended. The next message or decision starts the agent again, even in another process. The
 * new agent resumes the session by the id in the journal.
 */
import type { Snapshot, TaskWithEarlierTasks } from '../../task/snapshot.ts';
import { buildAcpPromptAfterStart, type AcpPrompt } from './agent-prompt.ts';
import type { LiveAcpAgent } from './live-agent.ts';
import { openAcpAgent, type AcpOptions } from './open-agent.ts';

type AgentPurpose = 'turn' | 'call';

interface LiveAgentEntry {
  agent: LiveAcpAgent;
  sessionId: string;
  workspace: string;
  taskId: string;
  /** True if the task has ended, so no turn of it reads why the agent ended. */
  taskEnded: boolean;
  /** If the agent was started for the tool calls of a turn, the number of this turn. Otherwise null. */
  startedFor: number | null;
  users: number;
  /** True if the agent ended during use and no turn has read this end yet. */
  broken: boolean;
  cancelIdle: (() => void) | undefined;
}

export interface AcpAgentInUse extends Pick<LiveAgentEntry, 'agent' | 'sessionId'> {
  /** True if the agent was restarted for this turn's calls. The agent must then request permission again. */
  fresh: boolean;
  release: () => void;
}

export class LiveAcpAgents {
  readonly options: AcpOptions;
  readonly #kept = new Map<string, LiveAgentEntry>();
  readonly #opening = new Map<string, Promise<LiveAgentEntry>>();
  readonly #closing = new AbortController();

  constructor(options: AcpOptions) {
    this.options = options;
  }

  /**
   * Returns the session's agent, and starts it if needed. A new agent gets a prompt with the task's state.
   * @throws ProductError AGENT_ERROR, SignInNeededError
   */
  async use(place: TaskWithEarlierTasks, purpose: AgentPurpose): Promise<AcpAgentInUse> {
    const { task } = place;
    const key = keyOf(task);
    const kept = await (this.#opening.get(key) ?? this.#obtain(key, place, purpose));
    if (kept.taskId !== task.taskId) kept.startedFor = null;
    kept.taskId = task.taskId;
    kept.taskEnded = false;
    kept.users += 1;
    kept.cancelIdle?.();
    let used = true;
    return {
      agent: kept.agent,
      sessionId: kept.sessionId,
      fresh: kept.startedFor === task.turns,
      release: () => {
        if (!used) return;
        used = false;
        kept.users -= 1;
        kept.broken = kept.agent.failure !== undefined && !kept.agent.failureReported && !kept.taskEnded;
        if (kept.users === 0) this.#startIdleTimer(key, kept);
      },
    };
  }

  /** The number of agents in memory, also of those whose process has ended. */
  get count(): number {
    return this.#kept.size;
  }

  /** Cancels the agent's work after the end of the task. */
  ended(task: Snapshot): void {
    const key = keyOf(task);
    const kept = this.#kept.get(key);
    if (kept?.taskId !== task.taskId) return;
    kept.taskEnded = true;
    kept.broken = false;
    void kept.agent.cancel();
    if (kept.agent.failure !== undefined && kept.users === 0) this.#letGo(key, kept);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#opening.values());
    const kept = [...this.#kept.values()];
    this.#kept.clear();
    for (const { cancelIdle } of kept) cancelIdle?.();
    await Promise.all(kept.map(({ agent }) => agent.end()));
  }

  /** Returns a usable agent, or starts one. Concurrent callers get the same agent. */
  #obtain(key: string, place: TaskWithEarlierTasks, purpose: AgentPurpose): Promise<LiveAgentEntry> {
    const kept = this.#kept.get(key);
    if (kept && isUsable(kept, place) && !kept.agent.discarding) return Promise.resolve(kept);
    const obtained = this.#startAgent(key, place, purpose).finally(() => this.#opening.delete(key));
    this.#opening.set(key, obtained);
    return obtained;
  }

  async #startAgent(
    key: string,
    place: TaskWithEarlierTasks,
    purpose: AgentPurpose,
  ): Promise<LiveAgentEntry> {
    const before = this.#kept.get(key);
    // A cancelled prompt must end before a new prompt starts.
    if (before?.agent.discarding) await before.agent.stop();
    if (before && isUsable(before, place)) return before;
    before?.cancelIdle?.();
    this.#kept.delete(key);
    await before?.agent.end();
    const { agent, sessionId, remembers } = await openAcpAgent(place, this.options, this.#closing.signal);
    const { task, workspace } = place;
    const kept: LiveAgentEntry = {
      agent,
      sessionId,
      workspace,
      taskId: task.taskId,
      taskEnded: false,
      startedFor: purpose === 'call' ? task.turns : null,
      users: 0,
      broken: false,
      cancelIdle: undefined,
    };
    this.#kept.set(key, kept);
    sendAcpPrompt(agent, buildAcpPromptAfterStart(place, remembers));
    return kept;
  }

  #startIdleTimer(key: string, kept: LiveAgentEntry): void {
    if (kept.broken) return;
    if (kept.agent.failure !== undefined) return this.#letGo(key, kept);
    const { idleMs, clock } = this.options;
    const used = new AbortController();
    const cancelTimer = idleMs === null ? undefined : clock.after(idleMs, () => this.#letGo(key, kept));
    kept.cancelIdle = () => {
      cancelTimer?.();
      used.abort();
    };
    // The process may end by itself. Then the agent is removed.
    kept.agent
      .until(() => kept.agent.failure, used.signal)
      .then(
        () => this.#letGo(key, kept),
        () => undefined,
      );
  }

  #letGo(key: string, kept: LiveAgentEntry): void {
    kept.cancelIdle?.();
    if (this.#kept.get(key) === kept) this.#kept.delete(key);
    void kept.agent.end();
  }
}

/** True if a caller can use the agent. An agent that ended during use stays until a turn has read the reason. */
function isUsable({ agent, workspace, users, broken }: LiveAgentEntry, place: TaskWithEarlierTasks): boolean {
  return workspace === place.workspace && (agent.failure === undefined || users > 0 || broken);
}

export function sendAcpPrompt(agent: LiveAcpAgent, { text, messages }: AcpPrompt): void {
  for (const messageId of messages) agent.delivered.add(messageId);
  agent.prompt(text);
}

function keyOf({ principal, sessionId }: Snapshot): string {
  return JSON.stringify([principal, sessionId]);
}

/**
 * The ACP agents of this process, one for each session that has needed one.
 *
 * A task that waits for a person keeps its agent, which holds the request for permission open: the one thing here that a
 * parked task costs. After `idleMs` without use it is let go; with the next message or decision, or in the next process, the
 * agent is started again and takes up its session by the id in the journal.
 */
import type { Snapshot, TaskPlace } from '../../task/snapshot.ts';
import { taughtAnew, type PromptContext } from './agent-prompt.ts';
import type { LiveAgent } from './live-agent.ts';
import { openAgent, type AcpOptions } from './open-agent.ts';

/** What an agent is needed for: the next turn of its task, or to carry out a call of the last one. */
export type Purpose = 'turn' | 'call';

interface Kept {
  agent: LiveAgent;
  /** Under which id the agent remembers the session. */
  sessionId: string;
  workspace: string;
  taskId: string;
  /** The turn for whose calls it was started; null where it was there when they were asked for. */
  startedFor: number | null;
  users: number;
  /** It ended while it was in use, and nobody has been told yet. */
  broken: boolean;
  cancelIdle: (() => void) | undefined;
}

/** An agent in use; `release` says that it no longer is. */
export interface InUse extends Pick<Kept, 'agent' | 'sessionId'> {
  /** It was started for the calls of this turn: whatever it had asked for, it has yet to ask for again. */
  fresh: boolean;
  release: () => void;
}

export class LiveAgents {
  readonly options: AcpOptions;
  readonly #kept = new Map<string, Kept>();
  readonly #opening = new Map<string, Promise<Kept>>();
  readonly #closing = new AbortController();

  constructor(options: AcpOptions) {
    this.options = options;
  }

  /** How many agents have a process. */
  get size(): number {
    return this.#kept.size + this.#opening.size;
  }

  /**
   * The session's agent. One that is started is told where the work stands, and is at it.
   * @throws ProductError AGENT_ERROR, SignInNeeded
   */
  async use(place: TaskPlace, purpose: Purpose): Promise<InUse> {
    const { task } = place;
    const key = keyOf(task);
    const kept = await (this.#opening.get(key) ?? this.#obtain(key, place, purpose));
    if (kept.taskId !== task.taskId) kept.startedFor = null;
    kept.taskId = task.taskId;
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
        kept.broken = kept.agent.failure !== undefined && !kept.agent.failureReported;
        if (kept.users === 0) this.#idle(key, kept);
      },
    };
  }

  /** The task has ended: whatever its agent still does for it is cancelled. */
  ended(task: Snapshot): void {
    const kept = this.#kept.get(keyOf(task));
    if (kept?.taskId !== task.taskId) return;
    kept.broken = false;
    void kept.agent.cancel();
  }

  /** Ends them all. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#opening.values());
    const kept = [...this.#kept.values()];
    this.#kept.clear();
    for (const { cancelIdle } of kept) cancelIdle?.();
    await Promise.all(kept.map(({ agent }) => agent.end()));
  }

  /** The one that is there, or a new one. Whoever asks meanwhile gets the same. */
  #obtain(key: string, place: TaskPlace, purpose: Purpose): Promise<Kept> {
    const kept = this.#kept.get(key);
    if (kept && isUsable(kept, place) && !kept.agent.discarding) return Promise.resolve(kept);
    const obtained = this.#renew(key, place, purpose).finally(() => this.#opening.delete(key));
    this.#opening.set(key, obtained);
    return obtained;
  }

  async #renew(key: string, place: TaskPlace, purpose: Purpose): Promise<Kept> {
    const before = this.#kept.get(key);
    // What was cancelled comes to its end before anything new begins.
    if (before?.agent.discarding) await before.agent.stop();
    if (before && isUsable(before, place)) return before;
    before?.cancelIdle?.();
    this.#kept.delete(key);
    await before?.agent.end();
    const { agent, sessionId, remembers } = await openAgent(place, this.options, this.#closing.signal);
    const { task, workspace } = place;
    const kept: Kept = {
      agent,
      sessionId,
      workspace,
      taskId: task.taskId,
      startedFor: purpose === 'call' ? task.turns : null,
      users: 0,
      broken: false,
      cancelIdle: undefined,
    };
    this.#kept.set(key, kept);
    tell(agent, taughtAnew(place, remembers));
    return kept;
  }

  #idle(key: string, kept: Kept): void {
    const letGo = (): void => {
      if (this.#kept.get(key) === kept) this.#kept.delete(key);
      void kept.agent.end();
    };
    if (kept.broken) return;
    if (kept.agent.failure !== undefined) return letGo();
    const { idleMs, clock } = this.options;
    if (idleMs !== null) kept.cancelIdle = clock.after(idleMs, letGo);
  }
}

/** One that ended while it was in use is still there for its user to hear why. */
function isUsable({ agent, workspace, users, broken }: Kept, place: TaskPlace): boolean {
  return workspace === place.workspace && (agent.failure === undefined || users > 0 || broken);
}

/** Sends the agent a prompt, and notes which messages it has been given with it. */
export function tell(agent: LiveAgent, { text, messages }: PromptContext): void {
  for (const messageId of messages) agent.delivered.add(messageId);
  agent.prompt(text);
}

function keyOf({ principal, sessionId }: Snapshot): string {
  return JSON.stringify([principal, sessionId]);
}

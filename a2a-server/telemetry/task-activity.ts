/**
 * Reads the work of tasks from their durable events: model calls, tool executions, decisions and ends. Metrics and
 * traces both use these activities. An activity contains no content of the task.
 */
import type { JournalEntry, TaskEvent, ToolOutcome, TokenUsage } from '../task/events.ts';

/** The work of a task, as metrics and traces need it. Times are in milliseconds since 1970. */
export type TaskActivity =
  /** The server begins to work on the task, after a message, a decision or a restart. */
  | { type: 'execution-start'; at: number }
  | { type: 'execution-end'; at: number }
  | {
      type: 'model-call';
      model: string;
      turn: number;
      startedAt: number;
      endedAt: number;
      usage?: TokenUsage;
      /** The cost in US dollars. Absent if the model has no price. */
      usd?: number;
      failed: boolean;
    }
  /** A model call that shortened the conversation. Its duration is unknown. */
  | { type: 'summary'; model: string; usage: TokenUsage; usd?: number }
  | {
      type: 'tool-execution';
      tool: string;
      callId: string;
      toolId: string;
      startedAt: number;
      endedAt: number;
      outcome: ToolOutcome['type'];
    }
  | {
      type: 'decision';
      tool: string;
      callId: string;
      decision: Extract<TaskEvent, { type: 'tool.decided' }>['decision'];
      channel: string;
      at: number;
    }
  | { type: 'task-end'; state: 'completed' | 'failed' | 'canceled' | 'rejected'; at: number };

/** What one task does now: the turn that asks the model, and the start times of the tool executions. */
interface OpenWork {
  turn?: { turn: number; model: string; startedAt: number };
  tools: Map<string, number>;
}

/**
 * Pairs the start and the end of work. It keeps only the work of tasks that the server executes. A task that has ended,
 * or that waits while none of its tools runs, uses no memory.
 */
export class TaskActivityTracker {
  readonly #open = new Map<string, OpenWork>();

  /**
   * Returns the activities that these entries complete, and the start and end of executions. The entries of a task must
   * arrive in order.
   */
  note(taskId: string, entries: readonly JournalEntry[]): TaskActivity[] {
    return entries.flatMap(({ at, event }) => {
      const opened = startsWork(event) && !this.#open.has(taskId);
      const known = this.#open.get(taskId);
      const activity = this.#activityOfEvent(taskId, event, at);
      const closed = known !== undefined && !this.#open.has(taskId);
      return [
        ...(opened ? [{ type: 'execution-start' as const, at }] : []),
        ...(closed ? [{ type: 'execution-end' as const, at }] : []),
        ...(activity ? [activity] : []),
      ];
    });
  }

  /** The number of tasks whose work has started and has not ended. */
  get size(): number {
    return this.#open.size;
  }

  #activityOfEvent(taskId: string, event: TaskEvent, at: number): TaskActivity | undefined {
    switch (event.type) {
      case 'turn.started':
        this.#openWorkOf(taskId).turn = { turn: event.turn, model: event.model, startedAt: at };
        return undefined;
      case 'turn.finished':
      case 'turn.abandoned': {
        const work = this.#open.get(taskId);
        const started = work?.turn;
        delete work?.turn;
        // If an earlier process started the turn, its start is unknown, and so is its duration.
        if (started?.turn !== event.turn) return undefined;
        const call = { type: 'model-call' as const, ...started, endedAt: at };
        if (event.type === 'turn.abandoned') return { ...call, failed: true };
        const { usage, usd } = event;
        return { ...call, usage, ...(usd !== undefined && { usd }), failed: false };
      }
      case 'context.summarised': {
        const { model, usage, usd } = event;
        return model === null
          ? undefined
          : { type: 'summary', model, usage, ...(usd !== undefined && { usd }) };
      }
      case 'tool.started':
        this.#openWorkOf(taskId).tools.set(event.toolId, at);
        return undefined;
      case 'tool.finished': {
        const { tool, callId, toolId, outcome } = event;
        const tools = this.#open.get(taskId)?.tools;
        const startedAt = tools?.get(toolId);
        tools?.delete(toolId);
        if (startedAt === undefined) return undefined;
        return {
          type: 'tool-execution',
          tool,
          callId,
          toolId,
          startedAt,
          endedAt: at,
          outcome: outcome.type,
        };
      }
      case 'tool.decided': {
        const { tool, callId, decision, by } = event;
        return { type: 'decision', tool, callId, decision, channel: by.channel, at };
      }
      case 'input.required':
      case 'auth.required': {
        const work = this.#open.get(taskId);
        // The work stays in `#open` while a tool asks a question, because the execution continues after the answer.
        if (work?.tools.size === 0) this.#open.delete(taskId);
        return undefined;
      }
      case 'task.completed':
      case 'task.failed':
      case 'task.canceled':
      case 'task.rejected': {
        this.#open.delete(taskId);
        const state = STATE_OF_END[event.type];
        return { type: 'task-end', state, at };
      }
      case 'task.created':
      case 'message.received':
      case 'task.working':
      case 'instructions.read':
      case 'text.delta':
      case 'reasoning.delta':
      case 'artifact.updated':
      case 'agent.session':
      case 'turn.noted':
      case 'todos.reminded':
      case 'tool.requested':
      case 'model.unavailable':
      case 'context.clipped':
      case 'context.exceeded':
      case 'grant.revoked':
      case 'tool.asked':
      case 'tool.withdrew':
      case 'tool.output':
      case 'files.saved':
      case 'todos.updated':
      case 'abort.requested':
      case 'tool.interrupted':
      case 'process.orphaned':
      case 'workspace.unavailable':
      case 'task.queued':
      case 'tool.outdated':
        return undefined;
    }
  }

  #openWorkOf(taskId: string): OpenWork {
    const known = this.#open.get(taskId);
    if (known !== undefined) return known;
    const work: OpenWork = { tools: new Map() };
    this.#open.set(taskId, work);
    return work;
  }
}

function startsWork({ type }: TaskEvent): boolean {
  return type === 'turn.started' || type === 'tool.started';
}

const STATE_OF_END = {
  'task.completed': 'completed',
  'task.failed': 'failed',
  'task.canceled': 'canceled',
  'task.rejected': 'rejected',
} as const;

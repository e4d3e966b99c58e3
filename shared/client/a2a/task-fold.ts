/** Builds a report of a task from the task's events. No I/O. */
import { RESUMABLE_STREAM_EXTENSION, TOOL_APPROVAL_EXTENSION } from '../../protocol/extensions.ts';
import { notDoneText } from '../../protocol/not-done-text.ts';
import type { ToolCallEvent } from '../../protocol/tool-approval.ts';
import type { Progress } from '../core/progress.ts';
import {
  hasEnded,
  type PendingAction,
  type RunningTool,
  type TaskReport,
  type TaskState,
} from '../core/task-report.ts';
import { taskStateOf } from './listed-task.ts';
import { toolCallEventSchema } from '../../protocol/call-view.ts';
import {
  pendingActionsSchema,
  type WireEvent,
  type WireMetadata,
  type WireStatus,
  type WireTask,
} from './wire.ts';

export class TaskFold {
  readonly taskId: string;
  readonly sessionId: string;
  /** The `seq` of the last event that the report includes. */
  #cursor = 0;
  /**
   * The `seq` of the last event that the caller has received. If a client resumes after an old event, the report
   * already includes newer events. `#told` is then smaller than `#cursor`.
   */
  #told = 0;
  #state: TaskState = 'working';
  #message = '';
  #pending: readonly PendingAction[] = [];
  /** The text of each artifact by artifact id, in the order in which the artifacts began. */
  readonly #said = new Map<string, string>();
  readonly #running = new Map<string, RunningTool>();
  /** The state or outcome of each tool call by call id, oldest first. */
  readonly #calls = new Map<
    string,
    Pick<RunningTool, 'tool' | 'title'> & { state: string; toolId: string | null }
  >();

  /** @param after the caller also receives the events after this `seq`, even if `task` already includes them */
  constructor(task: WireTask, after?: number) {
    this.taskId = task.id;
    this.sessionId = task.contextId;
    this.restart(task);
    this.#told = after ?? this.#cursor;
  }

  /** The `seq` after which the next subscription must continue. */
  get position(): number {
    return this.#told;
  }

  /**
   * True if the task has ended and the caller has received all its events. The client must then not subscribe again.
   * S2: the server answers a cursor past the end with an error.
   */
  get over(): boolean {
    return hasEnded({ state: this.#state }) && this.#told === this.#cursor;
  }

  get report(): TaskReport {
    const question = this.#state === 'waiting' && this.#pending.length === 0 ? this.#message : null;
    return {
      sessionId: this.sessionId,
      taskId: this.taskId,
      state: this.#state,
      message: this.#pending.length > 0 || question !== null ? '' : this.#message,
      notDone: notDoneText(this.#state, [...this.#calls.values()]),
      output: [...this.#said.values()]
        .map((text) => text.trim())
        .filter((text) => text !== '')
        .join('\n\n'),
      pending: this.#pending,
      question,
      tools: [...this.#running.values()],
      cursor: this.#cursor,
    };
  }

  /** Replaces the whole state with this task. */
  restart(task: WireTask): void {
    this.#cursor = seqOf(task.metadata) ?? 0;
    this.#said.clear();
    for (const artifact of task.artifacts)
      if (!isAside(artifact)) this.#said.set(artifact.artifactId, textOf(artifact.parts));
    this.#running.clear();
    this.#calls.clear();
    for (const { callId, state, toolId, tool, title } of task.metadata?.[TOOL_APPROVAL_EXTENSION]?.calls ??
      []) {
      this.#calls.set(callId, { tool, title, state, toolId });
      if (state === 'running' && toolId !== null)
        this.#running.set(toolId, { toolId, tool, title, startedAt: null });
    }
    this.#applyStatus(task.status);
  }

  /**
   * Adds an event to the report, and returns the progress that the caller must receive. S1: the caller receives no
   * event twice, so the list is empty for a repeated event.
   */
  take(event: WireEvent): readonly Progress[] {
    const { task, statusUpdate, artifactUpdate } = event;
    if (task !== undefined) {
      this.restart(task);
      this.#told = this.#cursor;
      return [{ type: 'state', report: this.report }];
    }
    const seq = seqOf((statusUpdate ?? artifactUpdate)?.metadata);
    if (seq !== undefined && seq <= this.#told) return [];
    this.#told = seq ?? this.#told;
    const happened = happeningsIn(event);
    if (seq !== undefined && seq <= this.#cursor) return happened;
    this.#cursor = seq ?? this.#cursor;
    if (artifactUpdate !== undefined) this.#addText(artifactUpdate);
    if (statusUpdate === undefined) return happened;
    const calls = happened.flatMap((progress) => (progress.type === 'activity' ? [progress.activity] : []));
    for (const each of calls) this.#applyToolCallEvent(each, statusUpdate.status.timestamp ?? null);
    // An event about a tool call has a status without the list of pending actions. So while actions wait, this status
    // is ignored. The next event lists them.
    if (calls.length > 0 && this.#pending.length > 0) return happened;
    const [before, asked] = [this.#state, this.#pending.length];
    this.#applyStatus(statusUpdate.status);
    // A status with pending actions is also progress if the state is the same, because the actions may have changed.
    const changed = before !== this.#state || asked + this.#pending.length > 0;
    return changed ? [...happened, { type: 'state', report: this.report }] : happened;
  }

  #addText({ artifact, append }: NonNullable<WireEvent['artifactUpdate']>): void {
    if (isAside(artifact)) return;
    const { artifactId, parts } = artifact;
    const before = append === true ? (this.#said.get(artifactId) ?? '') : '';
    this.#said.set(artifactId, before + textOf(parts));
  }

  #applyToolCallEvent(happened: ToolCallEvent, at: string | null): void {
    if (happened.type === 'tool.started') {
      const { toolId, tool, title } = happened;
      this.#running.set(toolId, { toolId, tool, title, startedAt: at });
    }
    if (happened.type === 'tool.finished') {
      const { callId, tool, title, toolId, outcome } = happened;
      this.#calls.set(callId, { tool, title, state: outcome, toolId });
    }
    if (happened.type === 'tool.decided' && happened.decision === 'deny') {
      const { callId, tool, title } = happened;
      const before = this.#calls.get(callId);
      // The call ran before with an unknown outcome, and the person chose not to run it again.
      const state = before?.state === 'unknown' ? 'skipped' : 'denied';
      this.#calls.set(callId, { tool, title, state, toolId: before?.toolId ?? null });
    }
    if (happened.type === 'tool.finished' && happened.toolId !== null) this.#running.delete(happened.toolId);
  }

  #applyStatus({ state, message }: WireStatus): void {
    this.#state = taskStateOf(state);
    const parts = message?.parts ?? [];
    this.#message = textOf(parts);
    this.#pending = parts.flatMap(({ data }) => pendingActionsSchema.safeParse(data).data?.pending ?? []);
    if (hasEnded({ state: this.#state })) this.#running.clear();
  }
}

/** Returns the progress that follows from this event alone. */
function happeningsIn({ statusUpdate, artifactUpdate }: WireEvent): readonly Progress[] {
  if (artifactUpdate !== undefined) {
    if (isAside(artifactUpdate.artifact)) return [];
    const text = textOf(artifactUpdate.artifact.parts);
    return text === '' ? [] : [{ type: 'text', text }];
  }
  const { status, metadata } = statusUpdate ?? {};
  const activity = toolCallEventSchema.safeParse(metadata?.[TOOL_APPROVAL_EXTENSION]?.activity).data;
  if (activity !== undefined) return [{ type: 'activity', activity }];
  const message = status?.state === 'TASK_STATE_WORKING' ? textOf(status.message?.parts ?? []) : '';
  return message === '' ? [] : [{ type: 'note', message }];
}

/** Returns true if the artifact is not part of the agent's answer. Tool output is such an artifact. */
function isAside({ metadata }: WireTask['artifacts'][number]): boolean {
  return metadata?.[TOOL_APPROVAL_EXTENSION]?.role !== undefined;
}

function seqOf(metadata: WireMetadata | undefined): number | undefined {
  return metadata?.[RESUMABLE_STREAM_EXTENSION]?.seq;
}

function textOf(parts: readonly { text?: string | undefined }[]): string {
  return parts.map(({ text }) => text ?? '').join('');
}

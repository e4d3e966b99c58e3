/** A task of the fake agent: a journal in memory and its A2A representation. */
import { Role, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import type { Message, Part } from '@a2a-js/sdk';
import { RESUMABLE_STREAM_EXTENSION } from '../../shared/protocol/resumable-stream-extension.ts';
import {
  type ToolCallEvent,
  type PendingAction,
  TOOL_APPROVAL_EXTENSION,
} from '../../shared/protocol/tool-approval.ts';

type Update = Pick<
  Extract<StreamResponse['payload'], { $case: 'statusUpdate' }>['value'],
  'status' | 'metadata'
>;

const ENDED: ReadonlySet<TaskState> = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_REJECTED,
  TaskState.TASK_STATE_CANCELED,
]);

export class FakeTask {
  readonly id: string;
  readonly contextId: string;
  readonly messages: Message[] = [];
  /** The streamed events in order, with their seq. */
  readonly events: { seq: number; event: StreamResponse }[] = [];
  state = TaskState.TASK_STATE_SUBMITTED;
  pending: PendingAction[] = [];
  text = '';
  seq = 1;
  readonly #listeners = new Set<() => void>();
  /** If false, events carry no seq. Then the task looks like the task of an agent without the extension. */
  readonly #numbered: boolean;

  constructor(id: string, contextId: string, numbered: boolean) {
    this.id = id;
    this.contextId = contextId;
    this.#numbered = numbered;
  }

  get settled(): boolean {
    return this.ended || this.state === TaskState.TASK_STATE_INPUT_REQUIRED;
  }

  get ended(): boolean {
    return ENDED.has(this.state);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  work(): this {
    this.pending = [];
    return this.#status(TaskState.TASK_STATE_WORKING);
  }

  say(text: string): this {
    this.text += text;
    const seq = ++this.seq;
    return this.#emit(seq, {
      payload: {
        $case: 'artifactUpdate',
        value: {
          taskId: this.id,
          contextId: this.contextId,
          artifact: this.#artifact(text),
          append: true,
          lastChunk: false,
          metadata: this.#metadata(seq),
        },
      },
    });
  }

  activity(activity: ToolCallEvent): this {
    return this.#status(TaskState.TASK_STATE_WORKING, { activity, keepState: true });
  }

  /** Removes these calls from the pending actions, because the agent has accepted a decision on them. */
  decide(callIds: readonly string[]): void {
    this.pending = this.pending.filter((each) => !callIds.includes(each.callId));
    this.seq += 1;
    if (this.pending.length === 0) this.state = TaskState.TASK_STATE_WORKING;
  }

  ask(...pending: PendingAction[]): this {
    this.pending = pending;
    return this.#status(TaskState.TASK_STATE_INPUT_REQUIRED);
  }

  complete(): this {
    return this.#status(TaskState.TASK_STATE_COMPLETED);
  }

  end(state: 'failed' | 'rejected'): this {
    return this.#status(state === 'failed' ? TaskState.TASK_STATE_FAILED : TaskState.TASK_STATE_REJECTED);
  }

  cancel(): this {
    this.pending = [];
    return this.#status(TaskState.TASK_STATE_CANCELED);
  }

  toTask(): Task {
    return {
      id: this.id,
      contextId: this.contextId,
      status: { state: this.state, message: this.#statusMessage(), timestamp: new Date(0).toISOString() },
      artifacts: this.text === '' ? [] : [this.#artifact(this.text)],
      history: this.messages,
      metadata: this.#metadata(this.seq),
    };
  }

  #status(state: TaskState, options: { activity?: ToolCallEvent; keepState?: boolean } = {}): this {
    const { activity, keepState = false } = options;
    const seq = ++this.seq;
    if (!keepState) this.state = state;
    const update: Update = {
      status: {
        state,
        message: activity === undefined ? this.#statusMessage() : undefined,
        timestamp: activity === undefined ? undefined : timeOf(seq),
      },
      metadata: this.#metadata(seq, activity === undefined ? undefined : { activity }),
    };
    return this.#emit(seq, {
      payload: { $case: 'statusUpdate', value: { taskId: this.id, contextId: this.contextId, ...update } },
    });
  }

  #emit(seq: number, event: StreamResponse): this {
    this.events.push({ seq, event });
    for (const listener of this.#listeners) listener();
    return this;
  }

  #metadata(seq: number, approval?: object): Record<string, unknown> | undefined {
    const place = this.#numbered ? { [RESUMABLE_STREAM_EXTENSION]: { seq } } : {};
    const said = approval === undefined ? {} : { [TOOL_APPROVAL_EXTENSION]: approval };
    return { ...place, ...said };
  }

  #statusMessage(): Message | undefined {
    if (this.state !== TaskState.TASK_STATE_INPUT_REQUIRED) return undefined;
    const value = { extension: TOOL_APPROVAL_EXTENSION, pending: this.pending };
    return agentMessage([part({ $case: 'data', value })], {
      messageId: `${this.id}-${String(this.seq)}`,
      contextId: this.contextId,
      taskId: this.id,
    });
  }

  #artifact(text: string) {
    return {
      artifactId: 'response',
      name: 'response',
      description: '',
      parts: [part({ $case: 'text', value: text })],
      metadata: undefined,
      extensions: [],
    };
  }
}

/** The time of the event with this seq, by the fake agent's clock. */
export function timeOf(seq: number): string {
  return new Date(seq * 1000).toISOString();
}

export function part(content: NonNullable<Part['content']>): Part {
  return { content, metadata: undefined, filename: '', mediaType: '' };
}

/** A message of an agent. A text is its only part. */
export function agentMessage(content: string | Part[], fields: Partial<Message> = {}): Message {
  return {
    messageId: 'm',
    contextId: 's',
    taskId: 't',
    role: Role.ROLE_AGENT,
    parts: typeof content === 'string' ? [part({ $case: 'text', value: content })] : content,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...fields,
  };
}

/** A pending action that writes a file. */
export function pendingWrite(callId: string, changes: Partial<PendingAction> = {}): PendingAction {
  return {
    callId,
    tool: 'write-file',
    title: `Write ${callId}.md`,
    input: { path: `${callId}.md`, content: 'hello' },
    shown: `hash-of-${callId}`,
    sideEffect: 'files',
    source: { type: 'built-in' },
    preview: {
      type: 'diff',
      path: `${callId}.md`,
      diff: `--- /dev/null\n+++ b/${callId}.md\n@@ -0,0 +1 @@\n+hello\n`,
    },
    reason: 'approval',
    expiresAt: null,
    decisions: ['approve', 'deny', 'edit'],
    ...changes,
  };
}

/** The task as an agent without a history of its own first reports it. */
export function firstTask(
  { taskId, contextId, userMessage }: { taskId: string; contextId: string; userMessage: Message },
  state: TaskState,
): Task {
  return {
    id: taskId,
    contextId,
    status: { state, timestamp: new Date().toISOString(), message: undefined },
    artifacts: [],
    history: [userMessage],
    metadata: undefined,
  };
}

/** Collects the content of a task from the answers or the stream events of any A2A agent. Needs no extension. */
import { z } from 'zod';

const part = z.looseObject({ text: z.string().optional() });
const artifact = z.looseObject({ artifactId: z.string(), parts: z.array(part).default([]) });
const status = z.looseObject({
  state: z.string(),
  message: z
    .looseObject({ parts: z.array(part).default([]) })
    .optional()
    .catch(undefined),
});
const task = z.looseObject({
  id: z.string(),
  contextId: z.string().optional(),
  status,
  artifacts: z.array(artifact).default([]),
});
const event = z.union([
  z.object({ task }),
  z.object({ statusUpdate: z.looseObject({ taskId: z.string(), status }) }),
  z.object({
    artifactUpdate: z.looseObject({ taskId: z.string(), artifact, append: z.boolean().default(false) }),
  }),
  z.object({ message: z.looseObject({ messageId: z.string() }) }),
]);

/** The states of an ended task. No event follows them. */
const ENDED = ['COMPLETED', 'FAILED', 'CANCELED', 'REJECTED'];
/** The states after which no event follows without a new message. The stream may stay open. */
const WAITING = ['INPUT_REQUIRED', 'AUTH_REQUIRED'];

/** The content of a task that could be lost: its state, and the text of each artifact. */
export class ProbedTaskContent {
  taskId: string | undefined;
  state = '';
  /** What the agent says about its state. */
  statusText = '';
  readonly #texts = new Map<string, string>();

  static ofTask(raw: unknown): ProbedTaskContent {
    return new ProbedTaskContent().take({ task: raw });
  }

  /** Adds an event, and returns this object. */
  take(raw: unknown): this {
    const told = event.parse(raw);
    if ('task' in told) {
      this.taskId = told.task.id;
      this.#applyStatus(told.task.status);
      this.#texts.clear();
      for (const each of told.task.artifacts) this.#texts.set(each.artifactId, textOf(each));
    } else if ('statusUpdate' in told) {
      this.taskId = told.statusUpdate.taskId;
      this.#applyStatus(told.statusUpdate.status);
    } else if ('artifactUpdate' in told) {
      const { artifact: chunk, append, taskId } = told.artifactUpdate;
      this.taskId = taskId;
      const before = append ? (this.#texts.get(chunk.artifactId) ?? '') : '';
      this.#texts.set(chunk.artifactId, before + textOf(chunk));
    }
    return this;
  }

  get ended(): boolean {
    return ENDED.includes(this.state);
  }

  get waiting(): boolean {
    return WAITING.includes(this.state);
  }

  get settled(): boolean {
    return this.ended || this.waiting;
  }

  get hasOutput(): boolean {
    return [...this.#texts.values()].some((text) => text !== '');
  }

  /** Returns a text that is equal for two tasks with the same content. Empty artifacts are left out. */
  get content(): string {
    const texts = [...this.#texts].filter(([, text]) => text !== '');
    return JSON.stringify({
      state: this.state,
      texts: Object.fromEntries(texts.toSorted(([a], [b]) => a.localeCompare(b))),
    });
  }

  #applyStatus({ state, message }: z.infer<typeof status>): void {
    this.state = state.replace(/^TASK_STATE_/, '');
    this.statusText = message === undefined ? '' : textOf(message);
  }
}

function textOf({ parts }: { parts: readonly z.infer<typeof part>[] }): string {
  return parts.map(({ text }) => text ?? '').join('');
}

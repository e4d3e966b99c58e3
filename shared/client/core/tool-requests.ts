/** Runs single tools of the agent. Each request starts a task with one tool call, and follows this task to its end. */
import { cancelEach } from './active-executions.ts';
import type { Execution, ExecutionOptions } from './execution.ts';
import { toolActivityText } from './operation-state.ts';
import type { Progress } from './progress.ts';
import type { TaskReport } from './task-report.ts';

export interface ToolUpdate {
  /** The id with which a client aborts the tool execution. Null before the tool runs. */
  toolId: string | null;
  message: string;
  /**
   * `progress` is the number of steps so far, which may include the current step. `total` is the number of all steps,
   * e.g. 3 of 10 pages. Both are null if the tool reports no steps.
   */
  progress: number | null;
  total: number | null;
}

export interface ExecuteToolOptions extends Pick<ExecutionOptions, 'signal' | 'onUnload'> {
  onProgress?: ((update: ToolUpdate) => void) | undefined;
  /**
   * Called when the tool call waits for a person. The callback can pass an action of `execution.report.pending` to
   * `execution.decide`.
   */
  onPending?: ((execution: Execution) => void) | undefined;
  /** The absolute path of the working directory, on the agent's machine. */
  workspace?: string | undefined;
}

export class ActiveToolRequests {
  readonly #active = new Set<Execution>();

  /**
   * Starts an execution and returns the report of its ended task. The promise settles like `Execution.result`.
   * @param start starts the execution
   */
  async run(
    start: (options: ExecutionOptions) => Execution,
    { signal, onUnload, onProgress, onPending }: ExecuteToolOptions,
  ): Promise<TaskReport> {
    const execution = start({
      signal,
      onUnload,
      onProgress(progress) {
        const update = toolUpdate(progress, execution.report);
        if (update !== undefined) onProgress?.(update);
        if (progress.type === 'state' && progress.report.state === 'waiting') onPending?.(execution);
      },
    });
    this.#active.add(execution);
    try {
      return await execution.result;
    } finally {
      this.#active.delete(execution);
    }
  }

  /**
   * Cancels the tasks of all requests that have not ended.
   * @throws AggregateError if some cancels fail. The other tasks are still cancelled.
   */
  abortAll(reason?: string): Promise<void> {
    return cancelEach([...this.#active], reason);
  }
}

/** Converts a progress event to an update about the tool. Returns undefined if the event is not about the tool. */
function toolUpdate(progress: Progress, report: TaskReport | undefined): ToolUpdate | undefined {
  const running = report?.tools[0]?.toolId ?? null;
  if (progress.type === 'note')
    return { toolId: running, message: progress.message, ...stepsOf(progress.steps) };
  if (progress.type !== 'activity') return undefined;
  const { activity } = progress;
  const message = toolActivityText(activity);
  if (message === '') return undefined;
  const toolId = 'toolId' in activity ? activity.toolId : running;
  return { toolId, message, ...stepsOf(activity.type === 'tool.output' ? activity.progress : undefined) };
}

function stepsOf(steps: { done: number; total: number } | undefined): Pick<ToolUpdate, 'progress' | 'total'> {
  return { progress: steps?.done ?? null, total: steps?.total ?? null };
}

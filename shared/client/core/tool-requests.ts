/** Runs single tools of the agent. Each request is a task with one call, and the client follows it to its end. */
import { cancelEach } from './execution-registry.ts';
import type { Execution, ExecutionOptions } from './execution.ts';
import { activityLine } from './operation-state.ts';
import type { Progress } from './progress.ts';
import type { TaskReport } from './task-report.ts';

/** A report of a running tool. */
export interface ToolUpdate {
  /** The id for an abort; null until the tool runs. */
  toolId: string | null;
  message: string;
  /** The finished steps and the total, e.g. 3 of 10 pages; null if the tool does not report them. */
  progress: number | null;
  total: number | null;
}

export interface ExecuteToolOptions extends Pick<ExecutionOptions, 'signal' | 'onUnload'> {
  onProgress?: ((update: ToolUpdate) => void) | undefined;
  /** Called when the call waits for a person. Decide with `execution.decide`, from `execution.report.pending`. */
  onPending?: ((execution: Execution) => void) | undefined;
  /** The absolute path of the working directory, on the agent's machine. */
  workspace?: string | undefined;
}

export class ToolRequests {
  readonly #active = new Set<Execution>();

  /** @param start starts the execution. @returns the report of the ended task; see `Execution.result` */
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

  /** Cancels the tasks of all requests that run. @throws AggregateError if some cancels fail; the others succeed */
  abortAll(reason?: string): Promise<void> {
    return cancelEach([...this.#active], reason);
  }
}

/** @returns undefined if the progress event is not about the tool */
function toolUpdate(progress: Progress, report: TaskReport | undefined): ToolUpdate | undefined {
  const running = report?.tools[0]?.toolId ?? null;
  if (progress.type === 'note')
    return { toolId: running, message: progress.message, ...stepsOf(progress.steps) };
  if (progress.type !== 'activity') return undefined;
  const { activity } = progress;
  const message = activityLine(activity);
  if (message === '') return undefined;
  const toolId = 'toolId' in activity ? activity.toolId : running;
  return { toolId, message, ...stepsOf(activity.type === 'tool.output' ? activity.progress : undefined) };
}

function stepsOf(steps: { done: number; total: number } | undefined): Pick<ToolUpdate, 'progress' | 'total'> {
  return { progress: steps?.done ?? null, total: steps?.total ?? null };
}

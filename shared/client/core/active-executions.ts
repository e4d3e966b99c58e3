/**
 * The active executions of one client. When the page unloads, the registry cancels each execution with `onUnload:
 * 'cancel'`.
 */
import { Execution } from './execution.ts';
import type { ExecutionOptions } from './execution.ts';
import { PageUnload } from './on-page-unload.ts';
import type { TaskTransport } from './task-transport.ts';

export class ActiveExecutions {
  readonly #active = new Set<Execution>();
  readonly #page: PageUnload;

  constructor(page: EventTarget | undefined) {
    this.#page = new PageUnload(page, () => {
      for (const execution of this.#active)
        if (execution.cancelsOnUnload) execution.cancelLeaving('the page that started it was left');
    });
  }

  get active(): readonly Execution[] {
    return [...this.#active];
  }

  begin(transport: TaskTransport, options: ExecutionOptions): Execution {
    const execution = new Execution(transport, options, (settled) => {
      this.#active.delete(settled);
      this.#watch();
    });
    this.#active.add(execution);
    this.#watch();
    return execution;
  }

  /**
   * Cancels all executions in parallel.
   * @throws AggregateError if some cancels fail. The other executions are still cancelled.
   */
  async cancelAll(reason?: string): Promise<void> {
    await cancelEach(this.active, reason);
  }

  #watch(): void {
    this.#page.watch(this.active.some((execution) => execution.cancelsOnUnload));
  }
}

/**
 * Cancels the executions in parallel.
 * @throws AggregateError if some cancels fail. The other executions are still cancelled.
 */
export async function cancelEach(executions: readonly Execution[], reason?: string): Promise<void> {
  const ends = await Promise.allSettled(executions.map((execution) => execution.cancel(reason)));
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} of ${ends.length} could not be cancelled.`);
}

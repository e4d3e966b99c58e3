/**
 * Starts executions, and has a registry of the running ones.
 *
 * - E1: a task has at most one execution. A wake-up during an execution sets a flag. The execution checks this flag
 *   before it exits.
 * - A parked or ended task uses no memory here.
 */
import { AbortScope } from '../../shared/runtime/abort.ts';
import type { CommandKey } from '../journal/journal.ts';
import { restartEvents } from '../task/next-step.ts';
import type { Snapshot } from '../task/snapshot.ts';
import { Execution, type ExecutionOptions, type ComputeOpeningEvents } from './execution.ts';
import { UnappendedCommand, type AppendedCommand } from './command-before-append.ts';
import type { AbortCause } from './abort-cause.ts';
import type { LogChange } from './task-snapshots.ts';
import { ToolScheduler } from './tool-scheduler.ts';

const SHUTDOWN: AbortCause = { reason: 'server-shutdown', message: 'Stopped because the server shut down.' };

/** If an approved call has not started after this time, the decision is appended without the start. */
const START_WITHIN_MS = 250;

export interface ExecutorOptions extends ExecutionOptions {
  /** The time limit for an aborted tool to end. A tool may have another limit. */
  graceMs: number;
}

interface Running {
  execution: Execution;
  done: Promise<void>;
}

export class Executor {
  readonly #options: ExecutorOptions;
  readonly #server = new AbortScope<AbortCause>();
  readonly #running = new Map<string, Running>();
  /** Functions that cancel a task's wake-up timer, by task id. */
  readonly #later = new Map<string, () => void>();
  /** The events that a task's next execution appends first, by task id. An entry stays until its events are durable. */
  readonly #openings = new Map<string, ComputeOpeningEvents>();
  readonly scheduler: ToolScheduler;
  #closing = false;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.scheduler = new ToolScheduler(options);
  }

  get size(): number {
    return this.#running.size;
  }

  /** Starts an execution. If one runs, it checks the task again before it exits. Returns at once. */
  wake(taskId: string): void {
    if (this.#closing) return;
    this.#later.get(taskId)?.();
    const running = this.#running.get(taskId);
    if (running) {
      running.execution.again = true;
      return;
    }
    this.#begin(taskId);
  }

  /**
   * Appends a command and wakes the task. If no execution runs, one append contains the command and the start of the
   * approved call. Resolves when the command is durable (E3).
   * @throws ProductError STORAGE
   */
  async command(
    taskId: string,
    rule: (snapshot: Snapshot) => LogChange,
    key: CommandKey,
  ): Promise<AppendedCommand> {
    const { log, clock } = this.#options;
    if (this.#closing || this.#running.has(taskId)) {
      const changed = await log.change(taskId, rule, key);
      if (changed?.type === 'appended') this.wake(taskId);
      return { changed };
    }
    this.#later.get(taskId)?.();
    const command = new UnappendedCommand(log, taskId, rule, key);
    const cancelTimer = clock.after(START_WITHIN_MS, () => void command.settle().catch(() => undefined));
    this.#begin(taskId, command);
    try {
      return await command.result;
    } finally {
      cancelTimer();
    }
  }

  #begin(taskId: string, command?: UnappendedCommand): void {
    const execution = new Execution(taskId, this.#options, {
      scheduler: this.scheduler,
      task: this.#server.child(),
      wakeAfter: (ms) => this.#wakeAfter(taskId, ms),
      opening: () => this.#openings.get(taskId),
      opened: () => void this.#openings.delete(taskId),
    });
    const running: Running = { execution, done: Promise.resolve() };
    this.#running.set(taskId, running);
    running.done = this.#run(taskId, execution, command);
  }

  async #run(taskId: string, execution: Execution, command?: UnappendedCommand): Promise<void> {
    await execution.run(command);
    // There is no `await` between these two lines. A wake-up therefore sets `again`, or starts the next execution.
    this.#running.delete(taskId);
    if (execution.again) this.wake(taskId);
  }

  /** Aborts all work of an ended task. The caller has already appended the end. */
  stop(taskId: string, stop: AbortCause): void {
    this.#openings.delete(taskId);
    this.#later.get(taskId)?.();
    this.#running.get(taskId)?.execution.abort(stop);
  }

  /** Wakes the submitted and working tasks that the last process left. @returns the number of these tasks */
  async recover(): Promise<number> {
    const rows = await this.#options.journal.unsettled();
    for (const { taskId } of rows) {
      this.#openings.set(taskId, restartEvents);
      this.wake(taskId);
    }
    return rows.length;
  }

  /**
   * Stops the executor. Model calls end at once, and the next process repeats them. Running tools may finish within
   * `graceMs`. After that time, they stop with the reason `server-shutdown`.
   */
  async shutdown(graceMs: number): Promise<void> {
    this.#closing = true;
    for (const cancel of this.#later.values()) cancel();
    const running = [...this.#running.values()];
    for (const { execution } of running) execution.abortLoop(SHUTDOWN);
    this.scheduler.stopWaiting(SHUTDOWN);
    const cancelTimer = this.#options.clock.after(graceMs, () => this.stopAll());
    await Promise.all(running.map(({ done }) => done));
    cancelTimer();
    this.stopAll();
  }

  /** Stops all running work without a grace period, during a shutdown. */
  stopAll(): void {
    this.#server.abort(SHUTDOWN);
  }

  /** Wakes the task after `ms` milliseconds, unless it is woken or stopped earlier. */
  #wakeAfter(taskId: string, ms: number): void {
    if (this.#closing) return;
    this.#later.get(taskId)?.();
    const cancelTimer = this.#options.clock.after(ms, () => this.wake(taskId));
    this.#later.set(taskId, () => {
      cancelTimer();
      this.#later.delete(taskId);
    });
  }
}

/**
 * Runs tasks. An execution takes a task from where its journal says it is to where it parks or ends.
 *
 * - E1 one execution per task: a wake-up during one is remembered by it, never a second one beside it.
 * - E4 nothing here knows of sockets or requests.
 * - Lifetimes are a tree of scopes: server → task → execution and tool executions. Each execution makes its own,
 *   so a task woken by a decision runs under signals made at that moment.
 * - A parked or ended task leaves nothing behind in memory.
 */
import { AbortScope } from '../../shared/abort.ts';
import type { Clock } from '../../shared/clock.ts';
import { messageOf, ProductError } from '../../shared/errors.ts';
import type { Journal } from '../journal/journal.ts';
import type { Models } from '../models/model.ts';
import { nextStep } from '../task/next-step.ts';
import { isTerminal, type Snapshot } from '../task/snapshot.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import type { Workspace } from '../tools/workspace.ts';
import type { Ids } from './ids.ts';
import { instructions } from './instructions.ts';
import { runModelTurn } from './model-turn.ts';
import { prepareCall } from './prepare-call.ts';
import type { Stop } from './stop.ts';
import type { TaskLog } from './task-log.ts';
import { ToolScheduler } from './tool-scheduler.ts';

/** After so many milliseconds a task whose journal could not be written is taken up again. */
const RETRY_MS = 5_000;

export interface ExecutorOptions {
  journal: Journal;
  log: TaskLog;
  clock: Clock;
  ids: Ids;
  models: Models;
  toolbox: Toolbox;
  /** Opens a task's workspace. @throws ProductError UNKNOWN_WORKSPACE */
  openWorkspace: (path: string | undefined) => Promise<Workspace>;
  graceMs: number;
  /** Told of an execution that broke; the task stays as its journal has it. */
  onFailure: (taskId: string, error: unknown) => void;
}

interface Execution {
  task: AbortScope<Stop>;
  /** Ends the loop and the model call, not the tools under way. */
  loop: AbortScope<Stop>;
  /** A command came meanwhile: look again before leaving. */
  again: boolean;
  done: Promise<void>;
}

/** What one execution has opened, kept for its length. */
interface Opened {
  workspace: Workspace;
  earlier: readonly Snapshot[];
}

export class Executor {
  readonly #options: ExecutorOptions;
  readonly #server = new AbortScope<Stop>();
  readonly #executions = new Map<string, Execution>();
  /** How to call off the next try of a task whose journal could not be written. */
  readonly #retries = new Map<string, () => void>();
  readonly scheduler: ToolScheduler;
  #closing = false;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.scheduler = new ToolScheduler({ ...options, tool: (name) => options.toolbox.get(name) });
  }

  /** How many tasks are being executed. */
  get size(): number {
    return this.#executions.size;
  }

  /** Takes the task up, or tells its primary that there is more. Returns at once. */
  wake(taskId: string): void {
    if (this.#closing) return;
    this.#retries.get(taskId)?.();
    const running = this.#executions.get(taskId);
    if (running) {
      running.again = true;
      return;
    }
    const task = this.#server.child();
    const execution: Execution = { task, loop: task.child(), again: false, done: Promise.resolve() };
    this.#executions.set(taskId, execution);
    execution.done = this.#execute(taskId, execution);
  }

  /** Fires the signals of everything the task has running; the journal has the reason already. */
  stop(taskId: string, stop: Stop): void {
    this.#executions.get(taskId)?.task.abort(stop);
  }

  /** Takes up every task that was moving when the last process ended. @returns how many. */
  async recover(): Promise<number> {
    const rows = await this.#options.journal.unsettled();
    for (const row of rows) this.wake(row.taskId);
    return rows.length;
  }

  /**
   * No new work; model calls end at once and are asked again by the next process; running tools get `graceMs` to end
   * by themselves and are then stopped with the reason `server-shutdown`.
   */
  async shutdown(graceMs: number): Promise<void> {
    this.#closing = true;
    for (const callOff of this.#retries.values()) callOff();
    const stop: Stop = { reason: 'server-shutdown', message: 'Stopped because the server shut down.' };
    const executions = [...this.#executions.values()];
    for (const { loop } of executions) loop.abort(stop);
    const cancelTimer = this.#options.clock.after(graceMs, () => this.#server.abort(stop));
    await Promise.all(executions.map(({ done }) => done));
    cancelTimer();
    this.#server.abort(stop);
  }

  async #execute(taskId: string, execution: Execution): Promise<void> {
    const release = this.#options.log.retain(taskId);
    try {
      do {
        execution.again = false;
        await this.#untilSettled(taskId, execution);
      } while (execution.again && !execution.loop.signal.aborted);
    } catch (error) {
      if (!(await this.#fail(taskId, error))) this.#retry(taskId);
    } finally {
      // No await from the last look to here: a wake-up finds this execution, or starts the next.
      release();
      this.#executions.delete(taskId);
      execution.task.close();
    }
  }

  async #untilSettled(taskId: string, { task, loop }: Execution): Promise<void> {
    const { log } = this.#options;
    let opened: Opened | undefined;
    for (;;) {
      const snapshot = await log.load(taskId);
      if (snapshot === undefined || loop.signal.aborted) return;
      const step = nextStep(snapshot);
      switch (step.type) {
        case 'settled':
          return;
        case 'append':
        case 'recover':
          // Decided on this very snapshot: if the task has moved on meanwhile, it is looked at again.
          await log.change(taskId, (s) =>
            s.seq === snapshot.seq ? { type: 'append', events: step.events } : { type: 'keep' },
          );
          break;
        case 'run': {
          opened ??= await this.#open(snapshot);
          const { workspace } = opened;
          const runs = await Promise.allSettled(
            step.calls.map((call) => this.scheduler.run(snapshot, call, { workspace, task })),
          );
          // E1: not before the last of them has come to its end, or the next execution would run beside it.
          for (const run of runs) if (run.status === 'rejected') throw run.reason;
          break;
        }
        case 'ask-model':
          opened ??= await this.#open(snapshot);
          await this.#askModel(snapshot, opened, loop.signal);
          break;
      }
    }
  }

  async #askModel(snapshot: Snapshot, { workspace, earlier }: Opened, signal: AbortSignal): Promise<void> {
    const { log, models, toolbox, ids } = this.#options;
    const { settings } = snapshot;
    await runModelTurn(snapshot.taskId, {
      log,
      model: models.resolve(settings.model),
      instructions: instructions(workspace, settings),
      tools: toolbox.declarations({ readOnly: settings.readOnly ?? false }),
      earlier,
      signal,
      prepare: (request, at) => prepareCall(request, at, { toolbox, workspace, ids, signal }),
    });
  }

  async #open(snapshot: Snapshot): Promise<Opened> {
    const { log, journal, openWorkspace } = this.#options;
    const workspace = await openWorkspace(snapshot.settings.workspace);
    const rows = await journal.session(snapshot.principal, snapshot.sessionId);
    const own = rows.findIndex((row) => row.taskId === snapshot.taskId);
    const earlier: Snapshot[] = [];
    for (const row of rows.slice(0, Math.max(own, 0))) {
      const ended = await log.load(row.taskId);
      if (ended) earlier.push(ended);
    }
    return { workspace, earlier };
  }

  /**
   * What cannot be run is ended with a sentence; what cannot be written stays as it is.
   * @returns whether the task has ended.
   */
  async #fail(taskId: string, error: unknown): Promise<boolean> {
    this.#options.onFailure(taskId, error);
    if (error instanceof ProductError && error.reason === 'STORAGE') return false;
    try {
      await this.#options.log.change(taskId, (s) =>
        isTerminal(s)
          ? { type: 'keep' }
          : { type: 'append', events: [{ type: 'task.failed', message: messageOf(error) }] },
      );
      return true;
    } catch (second) {
      this.#options.onFailure(taskId, second);
      return false;
    }
  }

  /** A disk that was full may have room by then, and nobody else would take the task up before the next command (R28). */
  #retry(taskId: string): void {
    if (this.#closing) return;
    const cancelTimer = this.#options.clock.after(RETRY_MS, () => this.wake(taskId));
    this.#retries.set(taskId, () => {
      cancelTimer();
      this.#retries.delete(taskId);
    });
  }
}

/**
 * Executes a task: continues it from its journal until it parks or ends.
 *
 * - E4: this file uses no sockets and no requests.
 * - Abort scopes form a tree: server → task → turn → model call and tool executions. Each execution creates new
 *   scopes, so earlier aborted signals cannot stop it.
 */
import type { AbortScope } from '../../shared/runtime/abort.ts';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { Journal } from '../journal/journal.ts';
import { NO_RECORDS, type ChildProcesses } from '../processes/child-processes.ts';
import { activeTime, type Budget } from '../task/budget.ts';
import { failAfterTimeout } from '../task/cancel.ts';
import type { TaskEvent } from '../task/events.ts';
import { dailyBudgetQuestion } from '../task/daily-budget.ts';
import { utcDay } from '../task/cost-sum.ts';
import { nextStep } from '../task/next-step.ts';
import { isSettled, isTerminal, newestMessage, type Snapshot } from '../task/snapshot.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import { askModel, type AskModelOptions } from './ask-model.ts';
import { orphanedCall, orphanedEvents } from './orphaned-calls.ts';
import { PausableTimeout } from './pausable-timeout.ts';
import type { UnappendedCommand } from './unappended-command.ts';
import type { AbortCause } from './abort-cause.ts';
import { timeLimitText, type TimeLimits, TurnScope } from './time-limits.ts';
import type { ToolScheduler } from './tool-scheduler.ts';
/** The delay before the next check of a process that the executor could not end, in milliseconds (D6). */
const ORPHAN_MS = 2_000;

/** The delay before the executor tries a task again after a failed append to the journal, in milliseconds. */
const RETRY_MS = 5_000;

/** Returns the events that a new execution appends first. */
export type FirstEvents = (snapshot: Snapshot) => readonly TaskEvent[];

export interface ExecutionOptions extends AskModelOptions {
  journal: Journal;
  /** Opens a task's workspace. @throws ProductError UNKNOWN_WORKSPACE */
  openWorkspace: (path: string | undefined) => Promise<Workspace>;
  limits: TimeLimits;
  /** The spending limit of a task. Above it, a person must agree to more. */
  budget: Budget;
  /** The spending limit of a principal per UTC day, in US dollars. Above it, a person must agree to more. */
  dailyBudget?: number;
  /** D6: finds and ends processes that a killed server left running. */
  children?: Pick<ChildProcesses, 'endOrphans'>;
  /** Called when an execution throws. */
  onFailure: (taskId: string, error: unknown) => void;
}

/** The part of the executor that an execution uses. */
interface ExecutionHost {
  scheduler: ToolScheduler;
  /** The scope of the task. The execution closes it. */
  task: AbortScope<AbortCause>;
  /** Wakes the task after `ms` milliseconds, unless it is woken or stopped earlier. */
  wakeAfter: (ms: number) => void;
  /** Returns the events to append first. Undefined if these events are already durable. */
  opening: () => FirstEvents | undefined;
  /** Called when the opening is durable. */
  opened: () => void;
}

/** Resources that one pass of an execution opens. */
interface PassResources {
  workspace: Workspace;
  earlier: readonly Snapshot[];
}

/** The resources of one pass over the task. The pass releases them at its end. */
interface ExecutionPass {
  opened?: PassResources;
  turn?: TurnScope;
  timeout?: PausableTimeout;
}

export class Execution {
  readonly #taskId: string;
  readonly #options: ExecutionOptions;
  readonly #host: ExecutionHost;
  readonly #loop: AbortScope<AbortCause>;
  /** A wake-up arrived during the execution: check the task again before exit. */
  again = false;

  constructor(taskId: string, options: ExecutionOptions, host: ExecutionHost) {
    this.#taskId = taskId;
    this.#options = options;
    this.#host = host;
    this.#loop = host.task.child();
  }

  /** Aborts everything the execution runs. */
  abort(stop: AbortCause): void {
    this.#host.task.abort(stop);
  }

  /** Ends the loop and the model call. Running tools continue. */
  abortLoop(stop: AbortCause): void {
    this.#loop.abort(stop);
  }

  /** Runs the execution and resolves when all its work has ended. Call it once. It never rejects. */
  async run(command?: UnappendedCommand): Promise<void> {
    const release = this.#options.log.retain(this.#taskId);
    try {
      await this.#carryOn(command);
    } catch (error) {
      // The disk may have space later, so a timer wakes the task. Otherwise the task waits for the next command (R28).
      if (!(await this.#fail(error))) this.#host.wakeAfter(RETRY_MS);
    } finally {
      release();
      this.#host.task.close();
    }
  }

  async #carryOn(command: UnappendedCommand | undefined): Promise<void> {
    try {
      if (await this.#orphaned()) {
        this.#host.wakeAfter(ORPHAN_MS);
        return;
      }
      await this.#open();
      do {
        this.again = false;
        await this.#untilSettled(command);
      } while (this.again && !this.#loop.signal.aborted);
    } finally {
      // E3: even after a failure the decision is appended and its sender gets an answer.
      if (command?.settled === false) await command.settle();
    }
  }

  /**
   * D6: ends the processes that a killed server left running. @returns true if one of the processes may still work on a
   * call
   */
  async #orphaned(): Promise<boolean> {
    const { log, children = NO_RECORDS } = this.#options;
    const orphans = await children.endOrphans();
    if (orphans.length === 0) return false;
    const changed = await log.change(this.#taskId, (s) => ({
      type: 'append',
      events: isSettled(s) ? [] : orphanedEvents(s, orphans),
    }));
    if (changed?.type !== 'appended' && changed?.type !== 'kept') return false;
    return orphanedCall(changed.snapshot, orphans) !== undefined;
  }

  async #open(): Promise<void> {
    const opening = this.#host.opening();
    if (opening === undefined) return;
    await this.#options.log.change(this.#taskId, (s) => ({ type: 'append', events: opening(s) }));
    this.#host.opened();
  }

  async #untilSettled(command: UnappendedCommand | undefined): Promise<void> {
    const pass: ExecutionPass = {};
    try {
      await this.#work(pass, command);
    } finally {
      pass.timeout?.cancel();
      pass.turn?.end();
    }
  }

  async #work(pass: ExecutionPass, command: UnappendedCommand | undefined): Promise<void> {
    const { log, clock, toolbox, budget, limits } = this.#options;
    const { task, scheduler } = this.#host;
    const loop = this.#loop;
    for (;;) {
      const loaded = await log.load(this.#taskId);
      if (loaded === undefined || loop.signal.aborted) return;
      const pending = command?.settled === false ? command : undefined;
      const snapshot = pending?.foresee(loaded, clock.now()) ?? loaded;
      if (limits.taskMs !== null) pass.timeout ??= this.#limitTask(snapshot, limits.taskMs);
      const step = nextStep(snapshot, { budget, now: clock.now() });
      if (pending !== undefined && (step.type !== 'run' || step.calls.length > 1)) {
        await pending.settle();
        continue;
      }
      switch (step.type) {
        case 'settled':
          return;
        case 'wait':
          this.#host.wakeAfter(step.until - clock.now());
          return;
        case 'append':
        case 'recover':
          // The step is based on this snapshot. If the task has changed since, the loop decides again.
          await log.change(this.#taskId, (s) =>
            s.seq === snapshot.seq ? { type: 'append', events: step.events } : { type: 'keep' },
          );
          break;
        case 'run': {
          await toolbox.settled(loop.signal);
          const { workspace, earlier } = (pass.opened ??= await this.#obtain(snapshot));
          pass.turn ??= new TurnScope(task, clock, limits.turnMs);
          const { scope } = pass.turn;
          const timeouts = [pass.turn.timeout, pass.timeout].filter((it) => it !== undefined);
          const runs = await Promise.allSettled(
            step.calls.map((call) =>
              scheduler.run(snapshot, call, {
                workspace,
                earlier,
                scope,
                timeouts,
                ...(pending && { command: pending }),
              }),
            ),
          );
          await pending?.settle();
          // E1: wait for all runs before throwing. Otherwise the next execution would run concurrently with them.
          for (const run of runs) if (run.status === 'rejected') throw run.reason;
          // The call waits for a decision again. The next decision gets new scopes, even if this execution still runs.
          if (runs.some((run) => run.status === 'fulfilled' && run.value === 'asked-again')) {
            pass.turn.end();
            delete pass.turn;
          }
          break;
        }
        case 'ask-model': {
          const question = await this.#dailyQuestion(snapshot);
          if (question !== undefined) {
            await log.change(this.#taskId, (s) =>
              s.seq === snapshot.seq ? { type: 'append', events: [question] } : { type: 'keep' },
            );
            break;
          }
          // MCP servers and other tool sources get time to start before the model sees the tool list.
          await toolbox.settled(loop.signal);
          pass.opened ??= await this.#obtain(snapshot);
          pass.turn?.end();
          pass.turn = new TurnScope(task, clock, limits.turnMs);
          await askModel(snapshot, this.#options, { ...pass.opened, turn: pass.turn.scope, loop });
          break;
        }
      }
    }
  }

  /** Returns the question to a person if the principal's budget per day is spent, and the next turn may cost money. */
  async #dailyQuestion(snapshot: Snapshot): Promise<TaskEvent | undefined> {
    const { dailyBudget, journal, clock, models } = this.#options;
    if (dailyBudget === undefined || newestMessage(snapshot)?.command !== undefined) return undefined;
    // A model without a price is free: with this budget, the server refuses to start if it does not know the price of a
    // model.
    if (models.resolve(snapshot.settings.model).price === undefined) return undefined;
    const use = await journal.dailyUse(snapshot.principal, utcDay(clock.now()));
    const asks = dailyBudgetQuestion(use, dailyBudget);
    return asks && { type: 'input.required', pending: [], ...asks };
  }

  /** Starts the task's time limit. At the limit the task fails. */
  #limitTask(snapshot: Snapshot, taskMs: number): PausableTimeout {
    const { clock, log, onFailure } = this.#options;
    const message = `The task worked longer than its time limit of ${timeLimitText(taskMs)}. To continue, send another message in its session.`;
    const end = async (): Promise<void> => {
      // If the task has parked in the meantime, it does not run any more.
      const changed = await log.change(snapshot.taskId, (s) =>
        isSettled(s) ? { type: 'keep' } : failAfterTimeout(s, message),
      );
      if (changed?.type === 'appended') this.abort({ reason: 'timeout', message });
    };
    return new PausableTimeout(clock, Math.max(0, taskMs - activeTime(snapshot, clock.now())), () => {
      end().catch((error: unknown) => onFailure(snapshot.taskId, error));
    });
  }

  async #obtain(snapshot: Snapshot): Promise<PassResources> {
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
   * Records `task.failed`. Records nothing if the error comes from the journal itself.
   * @returns true if the task has ended.
   */
  async #fail(error: unknown): Promise<boolean> {
    const { log, onFailure } = this.#options;
    onFailure(this.#taskId, error);
    if (error instanceof ProductError && error.reason === 'STORAGE') return false;
    try {
      await log.change(this.#taskId, (s) =>
        isTerminal(s)
          ? { type: 'keep' }
          : { type: 'append', events: [{ type: 'task.failed', message: messageOf(error) }] },
      );
      return true;
    } catch (second) {
      onFailure(this.#taskId, second);
      return false;
    }
  }
}

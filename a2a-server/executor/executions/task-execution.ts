/**
 * Executes a task from its journal until the task waits for a person or ends.
 *
 * - E4: an execution uses no socket and no request.
 * - Abort scopes form a tree: server → task → turn → model call and tool executions.
 * - Each execution creates new scopes. An earlier abort cannot stop it.
 */
import type { AbortScope } from '../../../shared/runtime/abort.ts';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { type TaskClaim, OwnershipLostError } from '../../journal/ownership.ts';
import type { Journal } from '../../journal/journal.ts';
import type { ChildProcessRecords } from '../../processes/child-process-records.ts';
import { activeTime, type Budget } from '../../task/budget.ts';
import { failTaskAfterTimeout } from '../../task/cancel.ts';
import type { TaskEvent } from '../../task/events.ts';
import { dailyBudgetQuestion } from '../../task/costs/daily-budget.ts';
import { utcDay } from '../../task/costs/cost-sum.ts';
import { nextStep } from '../../task/next-step.ts';
import { isTaskSettled, isTerminal, newestMessage, type Call, type Snapshot } from '../../task/snapshot.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';
import { askModel, type AskModelOptions } from '../model-turn/ask-model.ts';
import { findCallWithOrphan, orphanProcessEvents } from './orphan-process-events.ts';
import { PausableTimeout } from '../abort-scopes/pausable-timeout.ts';
import type { DeferredCommandAppend } from '../task-journal/deferred-command-append.ts';
import type { AbortCause } from '../abort-scopes/abort-cause.ts';
import {
  bytesLeftToWrite,
  dailyLimitQuestion,
  reachedDailyLimit,
  taskSizeProblem,
  type WritingLimits,
} from '../../limits/daily-writing.ts';
import type { ExecutionSlot } from '../../limits/execution-slot.ts';
import { wholeUnitDurationText, type TimeLimits } from '../abort-scopes/time-limits.ts';
import { TurnAbortScope } from '../abort-scopes/turn-abort-scope.ts';
import type { ToolScheduler } from '../tool-executions/tool-scheduler.ts';

/**
 * The cause of the abort after this server has lost the claim of the task. The next server that claims the task records
 * the outcome of the work.
 */
const CONTINUED_ELSEWHERE: AbortCause = {
  reason: 'server-shutdown',
  message: 'Stopped because this server lost the task to another server.',
};

/**
 * The delay before the next check of a process that could not be ended. D6: until that process ends, no person is asked
 * to run its tool call again.
 */
const ORPHAN_CHECK_MS = 2_000;

/** The delay before the next attempt after a failed append. */
const RETRY_MS = 5_000;

const DAMAGED =
  'The events of this task are damaged in the journal of the server, so the task cannot continue. The log of the server names the damage.';

export type ComputeOpeningEvents = (snapshot: Snapshot) => readonly TaskEvent[];

export interface TaskExecutionOptions extends AskModelOptions {
  journal: Journal;
  /** @throws ProductError UNKNOWN_WORKSPACE */
  openWorkspace: (path: string | undefined) => Promise<Workspace>;
  limits: TimeLimits;
  /** The budget of each task. When a task has used it, a person must agree to continue. */
  budget: Budget;
  /**
   * The daily budget of each principal, in US dollars per UTC day. When it is spent, a person must agree to continue.
   */
  dailyBudget?: number;
  /** Returns the current limits for the data that tasks write to the journal. */
  writingLimits: () => WritingLimits;
  /** D6: finds and ends processes that a killed server left running. */
  children: Pick<ChildProcessRecords, 'endOrphans'>;
  onFailure: (taskId: string, error: unknown) => void;
}

interface ExecutionHost {
  scheduler: ToolScheduler;
  /** The slot in which the task runs. */
  slot: Pick<ExecutionSlot, 'passToOtherPrincipal' | 'hold'>;
  /** The abort scope of the task. The execution closes it. */
  task: AbortScope<AbortCause>;
  /** Wakes the task after `ms` milliseconds, unless it is woken or stopped earlier. */
  wakeAfter: (ms: number) => void;
  /**
   * Returns the events that the execution must append first. Undefined if there are no such events, or if they are
   * already durable.
   */
  opening: () => ComputeOpeningEvents | undefined;
  opened: () => void;
}

interface PassResources {
  workspace: Workspace;
  earlier: readonly Snapshot[];
}

/**
 * The resources of one run of the loop over the task's steps. When the loop ends, the turn's abort scope closes and the
 * timer of the task's time limit stops.
 */
interface ExecutionPass {
  opened?: PassResources;
  turn?: TurnAbortScope;
  timeout?: PausableTimeout;
}

export class TaskExecution {
  readonly #taskId: string;
  #options: TaskExecutionOptions;
  readonly #host: ExecutionHost;
  readonly #loop: AbortScope<AbortCause>;
  /** True if the task was woken during this execution. The loop then checks the task again before it exits. */
  again = false;

  constructor(taskId: string, options: TaskExecutionOptions, host: ExecutionHost) {
    this.#taskId = taskId;
    this.#options = options;
    this.#host = host;
    this.#loop = host.task.child();
  }

  /** Releases the abort scope of an execution that never runs. */
  close(): void {
    this.#host.task.close();
  }

  abort(stop: AbortCause): void {
    this.#host.task.abort(stop);
  }

  /** Ends the loop and the model call. Running tools continue. */
  abortLoop(stop: AbortCause): void {
    this.#loop.abort(stop);
  }

  /**
   * Runs until all work has ended, or until the claim is lost. Never rejects. A second call is not allowed. After the
   * claim was lost, the execution appends nothing except `command`.
   */
  async run(claim: TaskClaim, command?: DeferredCommandAppend): Promise<void> {
    this.#options = { ...this.#options, taskJournal: this.#options.taskJournal.ownedBy(claim) };
    claim.onLost(() => {
      this.#options.onFailure(this.#taskId, new OwnershipLostError(this.#taskId));
      this.abort(CONTINUED_ELSEWHERE);
    });
    const release = this.#options.taskJournal.retain(this.#taskId);
    try {
      await this.#carryOn(command);
    } catch (error) {
      if (!claim.held) return;
      // The disk may have space later, so a timer wakes the task after a storage error. Without the timer, the task
      // would wait for the next command.
      if (!(await this.#appendFailure(error))) this.#host.wakeAfter(RETRY_MS);
    } finally {
      release();
      this.#host.task.close();
    }
  }

  async #carryOn(command: DeferredCommandAppend | undefined): Promise<void> {
    try {
      if (await this.#endOrphanProcesses()) {
        this.#host.wakeAfter(ORPHAN_CHECK_MS);
        return;
      }
      await this.#appendOpeningEvents();
      do {
        this.again = false;
        await this.#untilSettled(command);
      } while (this.again && !this.#loop.signal.aborted);
    } finally {
      // E3: even after a failure, the decision is appended. The sender of the decision then gets an answer.
      if (command?.settled === false) await command.settle();
    }
  }

  /**
   * D6: ends the processes that a killed server left running. Returns true if such a process may still work on a call
   * of this task.
   */
  async #endOrphanProcesses(): Promise<boolean> {
    const { taskJournal, children } = this.#options;
    const orphans = await children.endOrphans();
    if (orphans.length === 0) return false;
    const changed = await taskJournal.change(this.#taskId, (s) =>
      isTaskSettled(s) ? [] : orphanProcessEvents(s, orphans),
    );
    if (changed?.type !== 'appended' && changed?.type !== 'kept') return false;
    return findCallWithOrphan(changed.snapshot, orphans) !== undefined;
  }

  async #appendOpeningEvents(): Promise<void> {
    const opening = this.#host.opening();
    if (opening === undefined) return;
    await this.#options.taskJournal.change(this.#taskId, opening);
    this.#host.opened();
  }

  async #untilSettled(command: DeferredCommandAppend | undefined): Promise<void> {
    const pass: ExecutionPass = {};
    try {
      await this.#runSteps(pass, command);
    } finally {
      pass.timeout?.cancel();
      endTurn(pass);
    }
  }

  async #runSteps(pass: ExecutionPass, command: DeferredCommandAppend | undefined): Promise<void> {
    const { taskJournal, clock, budget, limits } = this.#options;
    for (;;) {
      const loaded = await taskJournal.load(this.#taskId);
      if (loaded === undefined || this.#loop.signal.aborted) return;
      const pending = command?.settled === false ? command : undefined;
      const snapshot = pending?.foresee(loaded, clock.now()) ?? loaded;
      if (limits.taskMs !== null) pass.timeout ??= this.#limitTask(snapshot, limits.taskMs);
      const step = nextStep(snapshot, { budget, now: clock.now() });
      // Only the start of a single call can share its append with the command. Before every other step, the command is
      // appended alone.
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
          await this.#appendIfUnchanged(snapshot, step.events);
          break;
        case 'run':
          await this.#runCalls(snapshot, step.calls, { pass, pending });
          break;
        case 'ask-model': {
          const granted = this.#host.slot.passToOtherPrincipal();
          if (granted === undefined) await this.#runTurn(snapshot, pass);
          else if (!(await this.#waitForSlot(granted, pass))) return;
          break;
        }
      }
    }
  }

  /** Appends events that follow from `snapshot`. If the task has changed since then, appends nothing. */
  async #appendIfUnchanged(snapshot: Snapshot, events: TaskEvent[]): Promise<void> {
    await this.#options.taskJournal.change(this.#taskId, (s) => (s.seq === snapshot.seq ? events : []));
  }

  async #runCalls(
    snapshot: Snapshot,
    calls: readonly Call[],
    { pass, pending }: { pass: ExecutionPass; pending: DeferredCommandAppend | undefined },
  ): Promise<void> {
    const { taskJournal, clock, toolbox, limits } = this.#options;
    const { task, slot, scheduler } = this.#host;
    await toolbox.settled(this.#loop.signal);
    const opened = (pass.opened ??= await this.#obtainResources(snapshot));
    const { scope, timeout } = (pass.turn ??= new TurnAbortScope(task, clock, limits.turnMs));
    const timeouts = [timeout, pass.timeout, slot].filter((it) => it !== undefined);
    const at = { ...opened, taskJournal, scope, timeouts, ...(pending && { command: pending }) };
    const runs = await Promise.allSettled(calls.map((call) => scheduler.run(snapshot, call, at)));
    await pending?.settle();
    // E1: all runs must end before the error is thrown. Otherwise the next execution would run at the same time.
    for (const run of runs) if (run.status === 'rejected') throw run.reason;
    // If a call waits for a new decision, the abort scope and the time limit of the turn end here. When the call
    // continues after the decision, it gets a new scope and a new time limit, even in this same execution.
    if (runs.some((run) => run.status === 'fulfilled' && run.value === 'asked-again')) endTurn(pass);
  }

  /**
   * Waits until the task has a slot again. Its time limit pauses during this wait. Returns false if the task gets no
   * slot.
   */
  async #waitForSlot(granted: Promise<boolean>, pass: ExecutionPass): Promise<boolean> {
    endTurn(pass);
    const release = pass.timeout?.hold();
    const isGranted = await granted;
    release?.();
    return isGranted;
  }

  /** Asks the model, unless a limit ends the task or makes it wait for a person. */
  async #runTurn(snapshot: Snapshot, pass: ExecutionPass): Promise<void> {
    const next = await this.#beforeTurn(snapshot);
    if (next.type === 'stop') return this.#appendIfUnchanged(snapshot, [next.event]);
    const { clock, toolbox, limits } = this.#options;
    // MCP servers need time to start before the model sees the list of tools.
    await toolbox.settled(this.#loop.signal);
    const opened = (pass.opened ??= await this.#obtainResources(snapshot));
    endTurn(pass);
    pass.turn = new TurnAbortScope(this.#host.task, clock, limits.turnMs);
    const place = { ...opened, turn: pass.turn.scope, loop: this.#loop, bytes: next.bytes };
    await askModel(snapshot, this.#options, place);
  }

  /**
   * Returns the number of bytes that the next turn may write. At a limit, returns instead the event that ends the task,
   * or makes it wait for a person.
   */
  async #beforeTurn(
    snapshot: Snapshot,
  ): Promise<{ type: 'go'; bytes: number } | { type: 'stop'; event: TaskEvent }> {
    const { journal, clock, writingLimits } = this.#options;
    const limits = writingLimits();
    const now = clock.now();
    const size = await journal.taskSize(snapshot.taskId);
    const failure = taskSizeProblem(size, limits);
    if (failure !== undefined) return { type: 'stop', event: { type: 'task.failed', message: failure } };
    const use = await journal.dailyWritten(snapshot.principal, utcDay(now));
    const reached = reachedDailyLimit(use, limits);
    const event: TaskEvent | undefined = reached
      ? { type: 'input.required', pending: [], question: dailyLimitQuestion(reached, now) }
      : await this.#dailyQuestion(snapshot);
    return event ? { type: 'stop', event } : { type: 'go', bytes: bytesLeftToWrite(size, use, limits) };
  }

  /** Returns a question if the principal's daily budget is spent and the next turn may cost money. */
  async #dailyQuestion(snapshot: Snapshot): Promise<TaskEvent | undefined> {
    const { dailyBudget, journal, clock, models } = this.#options;
    if (dailyBudget === undefined || newestMessage(snapshot)?.command !== undefined) return undefined;
    // With a daily budget, the server does not start if the price of a model is unknown. So a model without a price is
    // free.
    if (models.resolve(snapshot.settings.model).price === undefined) return undefined;
    const use = await journal.dailyUse(snapshot.principal, utcDay(clock.now()));
    const asks = dailyBudgetQuestion(use, dailyBudget);
    return asks && { type: 'input.required', pending: [], ...asks };
  }

  /** Starts the task's time limit. At this limit, the task fails. */
  #limitTask(snapshot: Snapshot, taskMs: number): PausableTimeout {
    const { clock, taskJournal, onFailure } = this.#options;
    const message = `The task worked longer than its time limit of ${wholeUnitDurationText(taskMs)}. To continue, send another message in its session.`;
    const end = async (): Promise<void> => {
      // The time limit does not fail a task that waits for a person or has ended.
      const changed = await taskJournal.change(snapshot.taskId, (s) =>
        isTaskSettled(s) ? [] : failTaskAfterTimeout(s, message),
      );
      if (changed?.type === 'appended') this.abort({ reason: 'timeout', message });
    };
    return new PausableTimeout(clock, Math.max(0, taskMs - activeTime(snapshot, clock.now())), () => {
      end().catch((error: unknown) => onFailure(snapshot.taskId, error));
    });
  }

  async #obtainResources(snapshot: Snapshot): Promise<PassResources> {
    const { taskJournal, journal, openWorkspace } = this.#options;
    const workspace = await openWorkspace(snapshot.settings.workspace);
    const rows = await journal.session(snapshot.principal, snapshot.sessionId);
    const own = rows.findIndex((row) => row.taskId === snapshot.taskId);
    const earlier: Snapshot[] = [];
    for (const row of rows.slice(0, Math.max(own, 0))) {
      // An earlier task whose events are damaged is left out. This task goes on without it.
      const ended = await taskJournal.loadIfReadable(row.taskId, row.seq);
      if (ended) earlier.push(ended);
    }
    return { workspace, earlier };
  }

  /**
   * Appends `task.failed`, unless the journal caused the error and another attempt may succeed. Returns true if the task
   * has ended.
   */
  async #appendFailure(error: unknown): Promise<boolean> {
    const { taskJournal, onFailure } = this.#options;
    onFailure(this.#taskId, error);
    const ofJournal = error instanceof ProductError && error.reason === 'STORAGE';
    // After an error of the journal, the task fails only if its own events are damaged. Other causes are e.g. a full
    // disk, or damage elsewhere in the journal.
    if (ofJournal && !(await taskJournal.isDamaged(this.#taskId))) return false;
    const message = ofJournal ? DAMAGED : errorMessageOf(error);
    try {
      await taskJournal.end(this.#taskId, (s) => (isTerminal(s) ? [] : [{ type: 'task.failed', message }]));
      return true;
    } catch (second) {
      onFailure(this.#taskId, second);
      return false;
    }
  }
}

function endTurn(pass: ExecutionPass): void {
  pass.turn?.end();
  delete pass.turn;
}

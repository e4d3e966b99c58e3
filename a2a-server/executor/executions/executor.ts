/**
 * Starts executions, and has a registry of the running ones.
 *
 * - E1: a task has at most one execution. A wake-up during an execution sets a flag. The execution checks this flag
 *   before it exits.
 * - E1 over several servers: an execution needs a claim, i.e. the right to run the task. The claim is kept until the
 *   execution has ended and no timer will wake the task.
 * - An ended task uses no memory here. A task that waits for a person uses memory only while one of its tools waits for
 *   an answer.
 */
import { AbortScope } from '../../../shared/runtime/abort.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { setBounded } from '../../../shared/runtime/set-bounded.ts';
import type { TaskClaim, UnclaimableTask } from '../../journal/ownership.ts';
import type { ExecutionSlot } from '../../limits/execution-slot.ts';
import type { FairExecutionSlots } from '../../limits/fair-execution-slots.ts';
import { queuePositionEvents, QueuePositionReports } from './queue-position.ts';
import { modelNotOfferedEvents } from '../../task/model-outage.ts';
import { restartEvents } from '../../task/next-step.ts';
import { TaskExecution, type TaskExecutionOptions, type ComputeOpeningEvents } from './task-execution.ts';
import {
  DeferredCommandAppend,
  type AppendedCommand,
  type TaskCommand,
} from '../task-journal/deferred-command-append.ts';
import type { AbortCause } from '../abort-scopes/abort-cause.ts';
import {
  type UnopenedTaskTimes,
  unopenedTasksAfterSearch,
  workspaceUnavailableEvents,
} from './tasks-no-server-can-open.ts';
import { ToolScheduler } from '../tool-executions/tool-scheduler.ts';

const ENDED_ELSEWHERE: AbortCause = {
  reason: 'task-cancel',
  message: 'Stopped because the task was ended through another server.',
};

const SHUTDOWN: AbortCause = { reason: 'server-shutdown', message: 'Stopped because the server shut down.' };

/**
 * The time limit for the start of an approved tool call, in milliseconds. After this time, the decision is appended
 * without the start.
 */
const START_WITHIN_MS = 250;

/**
 * If this server does not offer a task's model, it does not search for the task during this time, in milliseconds. The
 * time is longer than a lease: other servers can claim the tasks of a dead server only after its lease.
 */
const LEAVE_MS = 10_000;

/** The maximum number of tasks in `#left`. */
const MAX_LEFT = 1_000;

export interface ExecutorOptions extends TaskExecutionOptions {
  /** The time limit for an aborted tool to end. A tool may have another limit. */
  graceMs: number;
  /** Limits how many tasks run at the same time. */
  slots: FairExecutionSlots;
}

/** Names a task that may need an execution. */
interface WokenTask {
  taskId: string;
  /** The owner of the task. */
  principal: string;
  /** True if the task has run before. It then goes before the new tasks of its principal. */
  begun: boolean;
}

interface RunningTask {
  execution: TaskExecution;
  slot: ExecutionSlot;
  position: QueuePositionReports;
  done: Promise<void>;
}

export class Executor {
  readonly #options: ExecutorOptions;
  readonly #server = new AbortScope<AbortCause>();
  readonly #running = new Map<string, RunningTask>();
  /** Functions that cancel a task's wake-up timer, by task id. */
  readonly #wakeTimers = new Map<string, () => void>();
  /** The events that a task's next execution appends first, by task id. An entry stays until its events are durable. */
  readonly #openings = new Map<string, ComputeOpeningEvents>();
  /** The claims of tasks that execute, or that a timer will wake. */
  readonly #claims = new Map<string, TaskClaim>();
  /**
   * The tasks that this server has left to others because it does not offer their model, by task id. `seq` is the last
   * `seq` at that time. Until `until` (as `Clock.elapsed` gives it), this server does not search for the task.
   */
  readonly #left = new Map<string, { seq: number; until: number }>();
  readonly #slots: FairExecutionSlots;
  readonly scheduler: ToolScheduler;
  #closing = false;
  #looking = false;
  #unopened: UnopenedTaskTimes = new Map();

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.#slots = options.slots;
    this.scheduler = new ToolScheduler(options);
  }

  /** The number of tasks that run. */
  get size(): number {
    return this.#running.size - this.#slots.waiting;
  }

  /** The number of tasks that wait for a slot. */
  get waiting(): number {
    return this.#slots.waiting;
  }

  /**
   * Starts an execution of the task. If one is running, that execution checks the task again before it exits. Returns
   * at once.
   */
  wake(task: WokenTask): void {
    const { taskId } = task;
    if (this.#closing) return;
    this.#wakeTimers.get(taskId)?.();
    const running = this.#running.get(taskId);
    if (running) {
      running.execution.again = true;
      return;
    }
    this.#begin(task);
  }

  /**
   * Checks that the queue has space for a new task of the principal. Call the returned function as soon as the task
   * was woken, or if it was not created.
   * @throws ProductError LIMIT_REACHED, OVERLOADED
   */
  reserve(principal: string): Promise<() => void> {
    return this.#slots.reserve(principal);
  }

  /**
   * Appends a command and wakes the task. If no execution runs and a slot is free, an execution starts first. One
   * append may then contain the command and the start of the approved tool call. Resolves when the command is durable,
   * because an accepted command must never be lost (E3).
   * @throws ProductError STORAGE
   */
  async command(
    { taskId, principal }: Omit<WokenTask, 'begun'>,
    command: TaskCommand,
  ): Promise<AppendedCommand> {
    const { taskJournal, clock } = this.#options;
    const task = { taskId, principal, begun: true };
    if (this.#closing || this.#running.has(taskId) || !this.#slots.isFree(principal)) {
      const { rule, key, contents = [] } = command;
      const changed = await taskJournal.change(taskId, rule, { command: key, contents });
      if (changed?.type === 'appended') this.wake(task);
      return { changed };
    }
    this.#wakeTimers.get(taskId)?.();
    const deferred = new DeferredCommandAppend(taskJournal, taskId, command);
    // The execution may have loaded the task before this append. So the wake-up makes it check the task again.
    const settleAlone = (): Promise<void> => deferred.settle().then(() => this.wake(task));
    const cancelTimer = clock.after(START_WITHIN_MS, () => void settleAlone().catch(() => undefined));
    this.#begin(task, deferred);
    try {
      return await deferred.result;
    } finally {
      cancelTimer();
    }
  }

  #begin(task: WokenTask, command?: DeferredCommandAppend): void {
    const { taskId, principal, begun } = task;
    const position = new QueuePositionReports(this.#options.clock, () => this.#reportPosition(taskId, slot));
    const slot = this.#slots.request({ principal, begun, onMoved: () => position.moved() });
    const execution = new TaskExecution(taskId, this.#options, {
      scheduler: this.scheduler,
      task: this.#server.child(),
      slot,
      wakeAfter: (ms) => this.#wakeAfter({ taskId, principal, begun: true }, ms),
      opening: () => this.#openings.get(taskId),
      opened: () => void this.#openings.delete(taskId),
    });
    const running: RunningTask = { execution, slot, position, done: Promise.resolve() };
    this.#running.set(taskId, running);
    if (slot.state === 'waiting') position.start();
    running.done = this.#run(task, running, command);
  }

  async #run(task: WokenTask, running: RunningTask, command?: DeferredCommandAppend): Promise<void> {
    const { execution, slot } = running;
    const { taskId, principal } = task;
    const claim = await this.#claim(taskId);
    const mayRun = claim !== undefined && (await this.#offersModel(taskId, claim));
    if (!mayRun || !(await slot.granted) || !claim.held) {
      execution.close();
      // This server does not run the task: the task was stopped, or this server has no claim to it, or does not offer
      // its model. So only the command is appended. The server that owns the task reads the command from the journal.
      // If the append fails, the sender gets the error from `result`.
      await command?.settle().catch(() => undefined);
    } else {
      await execution.run(claim, command);
    }
    slot.end();
    await running.position.end();
    // There is no `await` between the next lines. A concurrent wake-up therefore either sets `again`, or starts the
    // next execution.
    this.#running.delete(taskId);
    if (execution.again) this.wake({ taskId, principal, begun: true });
    else this.#release(taskId);
  }

  /**
   * Appends an event with the number of tasks before this one. A task that has already run gets no such event, because
   * it soon continues. Returns undefined if the task gets no event now.
   */
  #reportPosition(taskId: string, slot: ExecutionSlot): Promise<void> | undefined {
    const claim = this.#claims.get(taskId);
    if (this.#closing || claim?.held !== true || slot.begun || slot.state !== 'waiting') return undefined;
    const { taskJournal, onFailure } = this.#options;
    return (
      taskJournal
        .ownedBy(claim)
        .change(taskId, (s) => queuePositionEvents(s, slot.ahead, this.#slots.limit))
        // The result contains the snapshot. A task may wait for a long time, so the promise does not keep the result in
        // memory.
        .then(
          () => undefined,
          (error: unknown) => onFailure(taskId, error),
        )
    );
  }

  /** Claims the task. Returns undefined if another server owns it. */
  async #claim(taskId: string): Promise<TaskClaim | undefined> {
    const { ownership } = this.#options.journal;
    const kept = this.#claims.get(taskId);
    if (kept?.held === true) return kept;
    this.#claims.delete(taskId);
    // This server has lost the claim `kept`, e.g. because its lease ended. It releases `kept`, because the search for
    // abandoned tasks skips a task while this server has a claim to it.
    if (kept !== undefined) ownership.release(taskId, kept);
    const claim = await ownership.claim(taskId);
    if (claim !== undefined) this.#storeClaim(taskId, claim);
    return claim;
  }

  /**
   * Returns false if this server does not offer the task's model, and another server may offer it. This server then
   * leaves the task to the others. The second time, if no server has continued the task meanwhile, the method appends
   * an event that says why the task waits. Also returns false after an error.
   */
  async #offersModel(taskId: string, claim: TaskClaim): Promise<boolean> {
    const { journal, taskJournal, models, clock, onFailure } = this.#options;
    if (!journal.ownership.shared) return true;
    try {
      // The settings of a task never change. So an older snapshot is enough.
      const known = await taskJournal.loadIfReadable(taskId, 0);
      if (known === undefined || isOffered(models, known.settings.model)) return true;
      const leftAt = this.#left.get(taskId)?.seq;
      const changed = await taskJournal
        .ownedBy(claim)
        .change(taskId, (s) => (s.seq === leftAt ? modelNotOfferedEvents(s, clock.now()) : []));
      if (changed?.type === 'appended' || changed?.type === 'kept')
        setBounded(
          this.#left,
          taskId,
          { seq: changed.snapshot.seq, until: clock.elapsed() + LEAVE_MS },
          MAX_LEFT,
        );
    } catch (error) {
      // The next search for abandoned tasks finds the task again.
      onFailure(taskId, error);
    }
    return false;
  }

  #storeClaim(taskId: string, claim: TaskClaim): void {
    this.#claims.set(taskId, claim);
    if (claim.takenOver) this.#openings.set(taskId, restartEvents);
  }

  /** Releases the claim of a task that does not execute, unless a timer will wake the task. */
  #release(taskId: string): void {
    const claim = this.#claims.get(taskId);
    // During a shutdown, this server keeps the claim. The next server that claims the task then learns that its work
    // may be unfinished.
    if (claim === undefined || this.#closing || this.#running.has(taskId) || this.#wakeTimers.has(taskId))
      return;
    this.#claims.delete(taskId);
    this.#openings.delete(taskId);
    this.#options.journal.ownership.release(taskId, claim);
  }

  /** Aborts all work of an ended task. Before this call, the journal must contain the end of the task. */
  stop(taskId: string, stop: AbortCause): void {
    this.#openings.delete(taskId);
    this.#wakeTimers.get(taskId)?.();
    const running = this.#running.get(taskId);
    running?.execution.abort(stop);
    if (running?.slot.state === 'waiting') running.slot.end();
    this.#release(taskId);
  }

  /**
   * Starts to claim tasks. Wakes the submitted and working tasks that no living server owns, now and regularly.
   * @param onLook called regularly if several servers use the journal
   * @returns the number of tasks that were woken now
   */
  async recover(onLook: () => void): Promise<number> {
    const { journal, openWorkspace } = this.#options;
    await journal.ownership.start({
      onSearch: () => {
        // An error is ignored. While the journal cannot be reached, this server claims no task, and it searches again
        // soon.
        this.#lookForAbandoned().catch(() => undefined);
        this.scheduler.abortRequested().catch(() => undefined);
        onLook();
      },
      ended: (taskId) => this.stop(taskId, ENDED_ELSEWHERE),
      canOpen: (workspace) =>
        openWorkspace(workspace).then(
          () => true,
          () => false,
        ),
    });
    return this.#lookForAbandoned();
  }

  async #lookForAbandoned(): Promise<number> {
    if (this.#closing || this.#looking) return 0;
    this.#looking = true;
    try {
      // The search leaves out the tasks in `#running`. A task whose claim this server has lost stays there while its
      // tools run. The task must not start again before they have ended.
      const { journal, clock } = this.#options;
      const left = [...this.#left].filter(([, { until }]) => until > clock.elapsed());
      const except = [...this.#running.keys(), ...left.map(([taskId]) => taskId)];
      const { claimed, unopened } = await journal.ownership.claimAbandoned(except);
      for (const { taskId, claim } of claimed) this.#storeClaim(taskId, claim);
      try {
        for (const { taskId } of claimed) {
          const row = await journal.row(taskId);
          if (row) this.wake({ taskId, principal: row.principal, begun: row.state !== 'submitted' });
        }
      } finally {
        // A task that could not be read does not run. Its claim is released, so that the next search for abandoned
        // tasks finds it.
        for (const { taskId } of claimed) this.#release(taskId);
      }
      await this.#reportUnopened(unopened);
      return claimed.length;
    } finally {
      this.#looking = false;
    }
  }

  async #reportUnopened(tasks: readonly UnclaimableTask[]): Promise<void> {
    const { taskJournal, clock } = this.#options;
    const { unopened, due } = unopenedTasksAfterSearch(this.#unopened, tasks, clock.now());
    this.#unopened = unopened;
    for (const task of due) await taskJournal.change(task.taskId, (s) => workspaceUnavailableEvents(s, task));
  }

  /**
   * Stops the executor. Model calls end at once, and the next process repeats them. Running tools may finish within
   * `graceMs`. After that time, they stop with the reason `server-shutdown`.
   */
  async shutdown(graceMs: number): Promise<void> {
    this.#closing = true;
    for (const cancel of this.#wakeTimers.values()) cancel();
    const running = [...this.#running.values()];
    for (const { execution, slot } of running) {
      execution.abortLoop(SHUTDOWN);
      if (slot.state === 'waiting') slot.end();
    }
    this.scheduler.stopWaiting(SHUTDOWN);
    const cancelTimer = this.#options.clock.after(graceMs, () => this.stopAll());
    await Promise.all(running.map(({ done }) => done));
    cancelTimer();
    this.stopAll();
  }

  /** Aborts all running work at once, during a shutdown. */
  stopAll(): void {
    this.#server.abort(SHUTDOWN);
  }

  /** Wakes the task after `ms` milliseconds, unless it is woken or stopped earlier. */
  #wakeAfter(task: WokenTask, ms: number): void {
    const { taskId } = task;
    if (this.#closing) return;
    this.#wakeTimers.get(taskId)?.();
    const cancelTimer = this.#options.clock.after(ms, () => this.wake(task));
    this.#wakeTimers.set(taskId, () => {
      cancelTimer();
      this.#wakeTimers.delete(taskId);
    });
  }
}

function isOffered(models: ExecutorOptions['models'], name: string | undefined): boolean {
  try {
    models.resolve(name);
    return true;
  } catch (error) {
    // After any other error, the execution itself fails the task with that error.
    return !(error instanceof ProductError && error.reason === 'UNKNOWN_MODEL');
  }
}

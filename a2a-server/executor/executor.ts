/**
 * Runs tasks. An execution continues a task from its journal until the task parks or ends.
 *
 * - E1: a task has one execution. A wake-up during an execution sets a flag that the execution checks before it
 *   exits.
 * - E4: this file knows no sockets and no requests.
 * - Abort scopes form a tree: server → task → turn → model call and tool executions. Each execution creates new
 *   scopes, so earlier aborted signals cannot stop it.
 * - A parked or ended task uses no memory here.
 */
import { AbortScope, onAbort } from '../../shared/runtime/abort.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { AgentCommands } from '../agent-commands/agent-commands.ts';
import type { CommandKey, Journal } from '../journal/journal.ts';
import type { Model, Models } from '../models/model.ts';
import { isReadOnlyMode } from '../policy/mode.ts';
import type { Policy } from '../policy/policy.ts';
import { UNRECORDED, type ChildProcesses } from '../processes/child-processes.ts';
import { activeTime, type Budget } from '../task/budget.ts';
import { timeOut } from '../task/commands.ts';
import type { TaskEvent } from '../task/events.ts';
import { nextStep, restartEvents } from '../task/next-step.ts';
import { isSettled, isTerminal, newestMessage, type Snapshot } from '../task/snapshot.ts';
import type { Toolbox } from '../tools/toolbox.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import { PausableTimeout } from './pausable-timeout.ts';
import type { Ids } from './ids.ts';
import { systemPrompt } from './system-prompt.ts';
import { orphanedCall, orphanedEvents } from './orphaned-calls.ts';
import { fitContextWindow } from './fit-context-window.ts';
import { runModelTurn } from './model-turn.ts';
import { PendingCommand, type CommandResult } from './pending-command.ts';
import { prepareCall } from './prepare-call.ts';
import type { StopCause } from './stop-reason.ts';
import type { LogChange, TaskLog } from './task-log.ts';
import { written, type TimeLimits } from './time-limits.ts';
import { ToolScheduler } from './tool-scheduler.ts';
import { TurnScope } from './turn-scope.ts';

/** Delay in milliseconds before the executor checks again for a process that it could not end (D6). */
const ORPHAN_MS = 2_000;

/** Delay in milliseconds before a task is retried whose journal could not be written. */
const RETRY_MS = 5_000;

const SHUTDOWN: StopCause = { reason: 'server-shutdown', message: 'Stopped because the server shut down.' };

export interface ExecutorOptions {
  journal: Journal;
  log: TaskLog;
  clock: Clock;
  ids: Ids;
  models: Models;
  /** Commands that run without a model. */
  commands: AgentCommands;
  toolbox: Toolbox;
  /** The operator's rules. */
  policy: Policy;
  /** Opens a task's workspace. @throws ProductError UNKNOWN_WORKSPACE */
  openWorkspace: (path: string | undefined) => Promise<Workspace>;
  graceMs: number;
  limits: TimeLimits;
  /** The limit a task may spend before a person must agree to more. */
  budget: Budget;
  /** D6: finds and ends processes that killed servers left running. Optional. */
  children?: Pick<ChildProcesses, 'endOrphans'>;
  /** Called when an execution throws. */
  onFailure: (taskId: string, error: unknown) => void;
}

/** The input of a new execution. */
interface Beginning {
  opening?: Opening | undefined;
  command?: PendingCommand | undefined;
}

interface Execution {
  task: AbortScope<StopCause>;
  /** Ends the loop and the model call. Running tools continue. */
  loop: AbortScope<StopCause>;
  /** A wake-up arrived during the execution: check the task again before exit. */
  again: boolean;
  done: Promise<void>;
}

type Opening = (snapshot: Snapshot) => readonly TaskEvent[];

/** If the approved call has not started after this many milliseconds, the decision is appended alone. */
const START_WITHIN_MS = 250;

/** Resources that one pass of an execution opens. */
interface Opened {
  workspace: Workspace;
  earlier: readonly Snapshot[];
}

/** The resources of one pass over the task. The pass releases them at its end. */
interface Stretch {
  opened?: Opened;
  turn?: TurnScope;
  countdown?: PausableTimeout;
}

export class Executor {
  readonly #options: ExecutorOptions;
  readonly #server = new AbortScope<StopCause>();
  readonly #executions = new Map<string, Execution>();
  /** Per task, cancels the timer of the next wake-up. */
  readonly #later = new Map<string, () => void>();
  readonly scheduler: ToolScheduler;
  #closing = false;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.scheduler = new ToolScheduler(options);
  }

  /** The number of tasks under execution. */
  get size(): number {
    return this.#executions.size;
  }

  /**
   * Starts an execution, or asks the running execution to check the task again. Returns at once.
   * @param opening gives the events that a new execution appends first.
   */
  wake(taskId: string, opening?: Opening): void {
    if (this.#closing) return;
    this.#later.get(taskId)?.();
    const running = this.#executions.get(taskId);
    if (running) {
      running.again = true;
      return;
    }
    this.#begin(taskId, { opening });
  }

  /**
   * Appends a command and wakes the task. If no execution runs, one append holds the command and the start of the
   * call that it approves.
   * @returns the result, once it is durable (E3). @throws ProductError STORAGE
   */
  async command(
    taskId: string,
    rule: (snapshot: Snapshot) => LogChange,
    key: CommandKey,
  ): Promise<CommandResult> {
    const { log, clock } = this.#options;
    if (this.#closing || this.#executions.has(taskId)) {
      const changed = await log.change(taskId, rule, key);
      if (changed?.type === 'appended') this.wake(taskId);
      return { changed };
    }
    this.#later.get(taskId)?.();
    const command = new PendingCommand(log, taskId, rule, key);
    const cancelTimer = clock.after(START_WITHIN_MS, () => void command.settle().catch(() => undefined));
    this.#begin(taskId, { command });
    try {
      return await command.result;
    } finally {
      cancelTimer();
    }
  }

  #begin(taskId: string, first: Beginning): void {
    const task = this.#server.child();
    const execution: Execution = { task, loop: task.child(), again: false, done: Promise.resolve() };
    this.#executions.set(taskId, execution);
    execution.done = this.#execute(taskId, execution, first);
  }

  /** Aborts everything the task runs. The caller has already recorded the reason in the journal. */
  stop(taskId: string, stop: StopCause): void {
    this.#later.get(taskId)?.();
    this.#executions.get(taskId)?.task.abort(stop);
  }

  /** Wakes every task that was neither parked nor ended when the last process exited. @returns their number. */
  async recover(): Promise<number> {
    const rows = await this.#options.journal.unsettled();
    for (const { taskId } of rows) this.wake(taskId, restartEvents);
    return rows.length;
  }

  /**
   * Starts no new work. Model calls stop at once; the next process repeats them. Running tools have `graceMs` to
   * finish, then stop with the reason `server-shutdown`.
   */
  async shutdown(graceMs: number): Promise<void> {
    this.#closing = true;
    for (const callOff of this.#later.values()) callOff();
    const executions = [...this.#executions.values()];
    for (const { loop } of executions) loop.abort(SHUTDOWN);
    this.scheduler.stopWaiting(SHUTDOWN);
    const cancelTimer = this.#options.clock.after(graceMs, () => this.stopAll());
    await Promise.all(executions.map(({ done }) => done));
    cancelTimer();
    this.stopAll();
  }

  /** Stops everything that still runs during a shutdown, without waiting for the grace period. */
  stopAll(): void {
    this.#server.abort(SHUTDOWN);
  }

  async #execute(taskId: string, execution: Execution, { opening, command }: Beginning): Promise<void> {
    const { log } = this.#options;
    const release = log.retain(taskId);
    try {
      await this.#carryOn(taskId, execution, { opening, command });
    } catch (error) {
      // The disk may have space again later. Without this timer the task would wait for the next command (R28).
      if (!(await this.#fail(taskId, error))) this.#wakeAfter(taskId, RETRY_MS);
    } finally {
      // There is no await between the last check and this line. A wake-up finds this execution or starts the next
      // one.
      release();
      this.#executions.delete(taskId);
      execution.task.close();
    }
  }

  async #carryOn(taskId: string, execution: Execution, { opening, command }: Beginning): Promise<void> {
    try {
      if (await this.#orphaned(taskId)) {
        this.#wakeAfter(taskId, ORPHAN_MS, opening);
        return;
      }
      if (opening) await this.#options.log.change(taskId, (s) => ({ type: 'append', events: opening(s) }));
      do {
        execution.again = false;
        await this.#untilSettled(taskId, execution, command);
      } while (execution.again && !execution.loop.signal.aborted);
    } finally {
      // E3: even after a failure the decision is appended and its sender gets an answer.
      if (command?.settled === false) await command.settle();
    }
  }

  /**
   * D6: tells whether a process of a killed server may still work on a call. Ends such processes first where it can.
   */
  async #orphaned(taskId: string): Promise<boolean> {
    const { log, children = UNRECORDED } = this.#options;
    const orphans = await children.endOrphans();
    if (orphans.length === 0) return false;
    const changed = await log.change(taskId, (s) => ({
      type: 'append',
      events: isSettled(s) ? [] : orphanedEvents(s, orphans),
    }));
    if (changed?.type !== 'appended' && changed?.type !== 'kept') return false;
    return orphanedCall(changed.snapshot, orphans) !== undefined;
  }

  async #untilSettled(taskId: string, execution: Execution, command?: PendingCommand): Promise<void> {
    const stretch: Stretch = {};
    try {
      await this.#work(taskId, execution, stretch, command);
    } finally {
      stretch.countdown?.cancel();
      stretch.turn?.end();
    }
  }

  async #work(
    taskId: string,
    { task, loop }: Execution,
    stretch: Stretch,
    command?: PendingCommand,
  ): Promise<void> {
    const { log, clock, budget, limits } = this.#options;
    for (;;) {
      const loaded = await log.load(taskId);
      if (loaded === undefined || loop.signal.aborted) return;
      const pending = command?.settled === false ? command : undefined;
      const snapshot = pending?.foresee(loaded, clock.now()) ?? loaded;
      if (limits.taskMs !== null) stretch.countdown ??= this.#limitTask(snapshot, task, limits.taskMs);
      const step = nextStep(snapshot, { budget, now: clock.now() });
      if (pending !== undefined && (step.type !== 'run' || step.calls.length > 1)) {
        await pending.settle();
        continue;
      }
      switch (step.type) {
        case 'settled':
          return;
        case 'wait':
          this.#wakeAfter(taskId, step.until - clock.now());
          return;
        case 'append':
        case 'recover':
          // The step was decided on this snapshot. If the task has changed since, the loop checks it again.
          await log.change(taskId, (s) =>
            s.seq === snapshot.seq ? { type: 'append', events: step.events } : { type: 'keep' },
          );
          break;
        case 'run': {
          await this.#options.toolbox.settled(loop.signal);
          const { workspace, earlier } = (stretch.opened ??= await this.#open(snapshot));
          stretch.turn ??= new TurnScope(task, clock, limits.turnMs);
          const { scope } = stretch.turn;
          const countdowns = [stretch.turn.countdown, stretch.countdown].filter((it) => it !== undefined);
          const runs = await Promise.allSettled(
            step.calls.map((call) =>
              this.scheduler.run(snapshot, call, {
                workspace,
                earlier,
                scope,
                countdowns,
                ...(pending && { command: pending }),
              }),
            ),
          );
          await pending?.settle();
          // E1: wait for all runs before throwing. Otherwise the next execution would run beside them.
          for (const run of runs) if (run.status === 'rejected') throw run.reason;
          // The call waits for a decision again. A later decision gets new scopes, even if this execution still runs.
          if (runs.some((run) => run.status === 'fulfilled' && run.value === 'asked-again')) {
            stretch.turn.end();
            delete stretch.turn;
          }
          break;
        }
        case 'ask-model':
          // MCP servers and other tool sources get time to start before the model sees the tool list.
          await this.#options.toolbox.settled(loop.signal);
          stretch.opened ??= await this.#open(snapshot);
          stretch.turn?.end();
          stretch.turn = new TurnScope(task, clock, limits.turnMs);
          await this.#askModel(snapshot, stretch.opened, { turn: stretch.turn.scope, loop });
          break;
      }
    }
  }

  async #askModel(
    snapshot: Snapshot,
    { workspace, earlier }: Opened,
    { turn, loop }: { turn: AbortScope<StopCause>; loop: AbortScope<StopCause> },
  ): Promise<void> {
    const { log, models, toolbox, ids, policy, clock, limits } = this.#options;
    const { settings } = snapshot;
    const scope = turn.child();
    const { signal } = scope;
    const stopListening = onAbort(loop.signal, () => loop.reason && scope.abort(loop.reason));
    const cancelTimer = limitModel(scope, clock, limits.modelMs);
    try {
      const asked = {
        log,
        clock,
        modelFor: (s: Snapshot) => this.#carryingOut(s, workspace) ?? models.resolve(settings.model),
        instructions: systemPrompt(workspace, settings),
        tools: toolbox.declarations({ readOnly: isReadOnlyMode(settings) }),
        earlier,
        workspace: workspace.root,
        scope,
      };
      if (!(await fitContextWindow(snapshot, asked))) return;
      await runModelTurn(snapshot.taskId, {
        ...asked,
        prepare: (request) =>
          prepareCall(request, {
            principal: snapshot.principal,
            toolbox,
            workspace,
            ids,
            policy,
            clock,
            signal,
          }),
      });
    } finally {
      cancelTimer?.();
      stopListening();
      scope.close();
    }
  }

  /** The model that runs the command of the newest message. Undefined if that message is no command. */
  #carryingOut(snapshot: Snapshot, workspace: Workspace): Model | undefined {
    const command = newestMessage(snapshot)?.command;
    return command && this.#options.commands.model(command, { snapshot, workspace });
  }

  /** Starts the task's time limit. At the limit the task fails. */
  #limitTask(snapshot: Snapshot, task: AbortScope<StopCause>, taskMs: number): PausableTimeout {
    const { clock, log, onFailure } = this.#options;
    const message = `The task was at work for longer than ${written(taskMs)}, its time limit. Go on with the session to let it continue.`;
    const end = async (): Promise<void> => {
      // A task that has parked in the meantime does not run any more.
      const changed = await log.change(snapshot.taskId, (s) =>
        isSettled(s) ? { type: 'keep' } : timeOut(s, message),
      );
      if (changed?.type === 'appended') task.abort({ reason: 'timeout', message });
    };
    return new PausableTimeout(clock, Math.max(0, taskMs - activeTime(snapshot, clock.now())), () => {
      end().catch((error: unknown) => onFailure(snapshot.taskId, error));
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
   * Records `task.failed`, unless the journal itself cannot be written.
   * @returns true if the task has ended.
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

  /** Wakes the task after this many milliseconds, unless it is woken or stopped earlier. */
  #wakeAfter(taskId: string, ms: number, opening?: Opening): void {
    if (this.#closing) return;
    this.#later.get(taskId)?.();
    const cancelTimer = this.#options.clock.after(ms, () => this.wake(taskId, opening));
    this.#later.set(taskId, () => {
      cancelTimer();
      this.#later.delete(taskId);
    });
  }
}

function limitModel(
  scope: AbortScope<StopCause>,
  clock: Clock,
  limitMs: number | null,
): (() => void) | undefined {
  if (limitMs === null) return undefined;
  const message = `The model took longer than ${written(limitMs)} to answer, its time limit.`;
  return clock.after(limitMs, () => scope.abort({ reason: 'timeout', message }));
}

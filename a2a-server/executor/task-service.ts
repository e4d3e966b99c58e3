/**
 * The task service: all commands and queries on tasks, for all transports. It joins the receiver of messages, the
 * queries, the executor and the maintenance. Several processes may use one journal.
 */
import type { AbortAnswer } from '../../shared/protocol/abort-answer.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { cancelTask, cancelAfterDisconnect, type ReaderDisconnect } from '../task/cancel.ts';
import { maySeeTasksOf, requireOwnerOrRole, type Requester } from '../access/requester.ts';
import type { ExpirySettings } from '../task/expiry.ts';
import type { Snapshot } from '../task/snapshot.ts';
import { FairStepLimiter } from '../limits/fair-step-limiter.ts';
import { Executor, type ExecutorOptions } from './executions/executor.ts';
import type { AbortCause } from './abort-scopes/abort-cause.ts';
import { abortAnswer } from './tool-executions/abort-request-outcome.ts';
import { abortRemotely, toolExecutionsOfOtherServers } from './tool-executions-of-other-servers.ts';
import { TaskJournal } from './task-journal/task-journal.ts';
import type { RunningToolExecution } from './tool-executions/tool-scheduler.ts';
import type { ToolExecutionView } from './tool-executions/tool-execution-view.ts';
import type { ClockCheck } from './clock-check.ts';
import { TaskMaintenance } from './maintenance.ts';
import { requireVisibleRow } from './queries/task-lookup.ts';
import type { MessageContext } from './messages/message-context.ts';
import { createMessageReceiver, type MessageReceiver } from './messages/message-receiver.ts';
import { createTaskQueries, type TaskQueries } from './queries/task-queries.ts';
import { requireAppliedCommand, toDecider } from './messages/command-result.ts';

interface TaskServiceOptions
  extends Omit<ExecutorOptions, 'taskJournal'>, Omit<MessageContext, 'taskJournal' | 'executor'> {
  /**
   * Deadlines and the deletion of old sessions. If absent, waiting tasks have no deadline, and no session is deleted.
   */
  maintenance?: MaintenanceSettings;
  /** Called when the end of a task is durable. Releases resources outside the journal. */
  onEnded?: (task: Snapshot) => void;
}

export interface MaintenanceSettings {
  expiry: ExpirySettings;
  /** The time from the end of a session's last task to the deletion of the session. If null, no session is deleted. */
  retentionMs: number | null;
  /** Checks that the clock is plausible before a task expires or a session is deleted. */
  clockCheck: Pick<ClockCheck, 'plausibleTime'>;
  /** Called after a maintenance round has failed. The next round tries again. */
  onFailure: (error: unknown) => void;
}

export interface TaskService extends MessageReceiver, TaskQueries {
  /** Cancels a task and returns its new snapshot. @throws ProductError UNKNOWN_TASK, TASK_ENDED */
  cancel(taskId: string, by: Requester & { channel: string }, reason: string): Promise<Snapshot>;
  /**
   * Cancels a working task. A task that waits for a person, has ended, or has a newer message stays unchanged.
   * @throws ProductError UNKNOWN_TASK
   */
  cancelWork(taskId: string, by: Requester & { channel: string }, left: ReaderDisconnect): Promise<void>;
  /** Returns the running tool executions, also those of other servers that use the journal. */
  toolExecutions(by: Requester): Promise<ToolExecutionView[]>;
  /**
   * Stops one tool execution. The task continues. For an unknown id, the returned answer says so, and no error is
   * thrown.
   */
  abortTool(toolId: string, by: Requester, reason: string): Promise<AbortAnswer>;
}

/** The task service for the program that starts and stops it. */
export interface RunningTaskService extends TaskService {
  /**
   * Starts the maintenance. Wakes the submitted and working tasks that no living server executes.
   * @returns the number of these tasks
   */
  recover(): Promise<number>;
  maintenanceIdle(): Promise<void>;
  /**
   * Ends all executions. Running tools may finish within `graceMs`. After that time, they are aborted. The next process
   * continues the tasks.
   */
  shutdown(graceMs: number): Promise<void>;
  /** Aborts all running tools at once, during a shutdown. */
  stopTools(): void;
  running(): readonly RunningToolExecution[];
  executing(): number;
  /** The number of tasks that wait for a slot. */
  waiting(): number;
}

export function createTaskService(options: TaskServiceOptions): RunningTaskService {
  const { journal, clock } = options;
  const taskJournal = new TaskJournal(journal, {
    waits: options.maintenance && {
      clock,
      expiry: options.maintenance.expiry,
      onDeadline: (deadline) => maintenance?.noteDeadline(deadline),
    },
    onEnded: options.onEnded,
    onDamaged: options.onFailure,
    stepLimiter: new FairStepLimiter(clock),
  });
  const maintenance =
    options.maintenance &&
    new TaskMaintenance({
      journal,
      taskJournal,
      clock,
      ...options.maintenance,
      onEnded: (taskId) =>
        executor.stop(taskId, {
          reason: 'task-cancel',
          message: 'The task was ended: no person answered before its deadline.',
        }),
    });
  const executor = new Executor({ ...options, taskJournal });
  const receiver = createMessageReceiver({ ...options, taskJournal, executor });
  const queries = createTaskQueries({ ...options, taskJournal });
  let closing = false;

  return {
    ...queries,
    ...receiver,
    async send(incoming) {
      if (closing)
        throw new ProductError(
          'SHUTTING_DOWN',
          'The server is shutting down; send the same message again in a moment.',
        );
      return receiver.send(incoming);
    },
    async cancel(taskId, by, reason) {
      const { principal: owner } = await requireVisibleRow(journal, taskId, by);
      requireOwnerOrRole(by, owner, 'operate');
      const { snapshot } = requireAppliedCommand(
        await taskJournal.end(taskId, (s) => cancelTask(s, reason, toDecider(by))),
        taskId,
      );
      executor.stop(taskId, cancelCause(reason));
      return snapshot;
    },
    async cancelWork(taskId, by, left) {
      const { principal: owner } = await requireVisibleRow(journal, taskId, by);
      // A requester may also see tasks of other principals. The disconnect of the requester must not stop those tasks.
      if (owner !== by.principal) return;
      const { type } = requireAppliedCommand(
        await taskJournal.change(taskId, (s) => cancelAfterDisconnect(s, left, toDecider(by))),
        taskId,
      );
      if (type === 'appended') executor.stop(taskId, cancelCause(left.reason));
    },
    async toolExecutions(by) {
      const own = executor.scheduler.of(by);
      const known = new Set(own.map(({ toolId }) => toolId));
      return [...own, ...(await toolExecutionsOfOtherServers(by, known, { journal, taskJournal, clock }))];
    },
    async abortTool(toolId, by, reason) {
      const owner = executor.scheduler.ownerOf(toolId) ?? (await journal.toolExecution(toolId))?.principal;
      if (owner === undefined || !maySeeTasksOf(by, owner)) return abortAnswer(toolId, { type: 'unknown' });
      requireOwnerOrRole(by, owner, 'operate');
      const request = { toolId, principal: by.principal, reason };
      const own = await executor.scheduler.abort(request);
      return abortAnswer(toolId, own ?? (await abortRemotely(request, { journal, taskJournal, clock })));
    },
    async recover() {
      const recovered = await executor.recover(() => void maintenance?.lookForDeadlines());
      maintenance?.start();
      return recovered;
    },
    async maintenanceIdle() {
      await maintenance?.settled();
    },
    async shutdown(graceMs) {
      closing = true;
      await Promise.all([maintenance?.stop(), executor.shutdown(graceMs)]);
    },
    stopTools: () => executor.stopAll(),
    running: () => executor.scheduler.running,
    executing: () => executor.size,
    waiting: () => executor.waiting,
  };
}

function cancelCause(reason: string): AbortCause {
  return { reason: 'task-cancel', message: `The task was cancelled: ${reason}` };
}

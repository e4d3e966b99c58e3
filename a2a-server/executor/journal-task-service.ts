/**
 * Implements the task service with the journal and the executor. The service answers a command when it is durable (E3).
 * Then the executor wakes the task.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import { agentCommands, type AgentCommands } from '../agent-commands/agent-commands.ts';
import type { CostReport } from '../../shared/protocol/cost-report.ts';
import type { TaskMode, TaskSettings } from '../../shared/protocol/tool-approval.ts';
import type { CommandKey, RecordedCommand, TaskRow } from '../journal/journal.ts';
import { acceptMessage } from '../task/accept-message.ts';
import { cancel, cancelWork } from '../task/cancel.ts';
import { askAgain, decide, otherQuestionRefusal } from '../task/decide.ts';
import type { CommandRefusal } from '../task/command-outcome.ts';
import { decisionInText } from '../task/text-decision.ts';
import { costReport, sumCosts } from '../task/cost-report.ts';
import { utcDay } from '../task/cost-sum.ts';
import { dailyLimit } from '../task/daily-budget.ts';
import { revoke } from '../task/revoke.ts';
import type { Decider, TaskEvent } from '../task/events.ts';
import type { ExpirySettings } from '../task/expiry.ts';
import { filesOf } from '../task/task-files.ts';
import type { Snapshot } from '../task/snapshot.ts';
import { Executor, type ExecutorOptions } from './executor.ts';
import type { AbortCause } from './abort-cause.ts';
import { followJournal } from './follow-journal.ts';
import { resolveDecisions, type DecisionsResult } from './resolve-decisions.ts';
import { refuseFiles, refuseLongMessage } from './refuse-message.ts';
import { newTaskSettings, settingsRefusal, differingSettings } from './new-task-settings.ts';
import { TaskLog, type LogChange, type ChangeResult } from './task-log.ts';
import type { ToolExecution } from './tool-scheduler.ts';
import type { ClockCheck } from './clock-check.ts';
import { Maintenance } from './maintenance.ts';
import { findTarget, ownRow, unknownTask } from './message-target.ts';
import { type Accepted, decides, type Incoming, type TaskService } from './task-service.ts';

interface TaskServiceOptions extends Omit<ExecutorOptions, 'log' | 'commands'> {
  /** Defaults to no commands. */
  commands?: AgentCommands;
  /** The mode of a task whose message sets no mode. */
  mode: TaskMode;
  /** Deadlines and clean-up. If absent, parked tasks wait without limit. */
  maintenance?: MaintenanceSettings;
  /** Called for each task when its end is durable. The callback releases resources outside the journal. */
  onEnded?: (task: Snapshot) => void;
}

export interface MaintenanceSettings {
  expiry: ExpirySettings;
  /**
   * The time from the end of a session's last task to the deletion of the session, in milliseconds. Null: the server
   * deletes no session.
   */
  retentionMs: number | null;
  /** Checks the clock before anything expires or is deleted (R103). */
  clockCheck?: ClockCheck;
  /** Called when a maintenance round fails. The next round tries again. */
  onFailure: (error: unknown) => void;
}

export interface RunningTaskService extends TaskService {
  /**
   * Starts maintenance. Wakes each task that was neither parked nor ended when the last process exited.
   * @returns the number of these tasks
   */
  recover(): Promise<number>;
  /** Resolves when no maintenance round runs. */
  maintenanceIdle(): Promise<void>;
  /** Ends all executions after at most `graceMs`. The next process resumes the tasks. */
  shutdown(graceMs: number): Promise<void>;
  /** Stops running tools at once during a shutdown. */
  stopTools(): void;
  /** Running tool executions of this process. */
  running(): readonly ToolExecution[];
  /** The number of tasks under execution in this process. */
  executing(): number;
}

export function createTaskService(options: TaskServiceOptions): RunningTaskService {
  const { journal, ids, models, clock, commands = agentCommands([]) } = options;
  const log = new TaskLog(
    journal,
    options.maintenance && {
      clock,
      expiry: options.maintenance.expiry,
      onDeadline: (deadline) => maintenance?.noteDeadline(deadline),
    },
    options.onEnded,
  );
  const maintenance =
    options.maintenance &&
    new Maintenance({
      journal,
      log,
      clock,
      ...options.maintenance,
      onEnded: (taskId) =>
        executor.stop(taskId, {
          reason: 'task-cancel',
          message: 'The task was ended: no person answered before its deadline.',
        }),
    });
  const executor = new Executor({ ...options, commands, log });
  let closing = false;

  async function send(incoming: Incoming): Promise<Accepted> {
    if (closing)
      throw new ProductError(
        'SHUTTING_DOWN',
        'The server is shutting down; send the same message again in a moment.',
      );
    const key: CommandKey = {
      principal: incoming.principal,
      messageId: incoming.message.messageId,
      bodyHash: incoming.bodyHash,
    };
    for (;;) {
      const known = await journal.command(key.principal, key.messageId);
      if (known) return repeated(known, key);
      const target = await findTarget(incoming, { journal, ids });
      try {
        return await (target.type === 'live'
          ? command(target.taskId, incoming, key)
          : start(target, incoming, key));
      } catch (error) {
        if (!(await overtaken(incoming, key, error))) throw error;
      }
    }
  }

  /**
   * Returns true if a concurrent command caused the refusal. Either the same message arrived twice (R27), or the task
   * of the session ended (R04).
   */
  async function overtaken(incoming: Incoming, key: CommandKey, error: unknown): Promise<boolean> {
    if (!(error instanceof ProductError)) return false;
    const next = incoming.taskId === undefined && !decides(incoming);
    if (next && error.reason === 'TASK_ENDED') return true;
    return (await journal.command(key.principal, key.messageId)) !== undefined;
  }

  async function start(
    target: { sessionId: string; previous?: TaskRow },
    incoming: Incoming,
    key: CommandKey,
  ): Promise<Accepted> {
    if (decides(incoming))
      throw new ProductError(
        'INVALID_DECISION',
        'The message decides a call or revokes a grant, but names no task and no session. Nothing was changed. Send it again with the task id.',
      );
    const previous = target.previous && (await log.load(target.previous.taskId));
    const message = commands.accept(incoming.message);
    const settings = await checkedSettings(newTaskSettings(incoming.settings, previous, options.mode));
    refuseFiles(message, settings.model, models);
    refuseLongMessage(message, settings.model, models);
    const taskId = ids.task();
    const bare =
      message.command === undefined && models.resolve(settings.model).answersWith?.(message) === 'message';
    const events: TaskEvent[] = [
      {
        type: 'task.created',
        sessionId: target.sessionId,
        principal: incoming.principal,
        settings,
        ...(bare && { answer: 'message' }),
      },
      { type: 'message.received', message, channel: incoming.channel },
    ];
    const { contents = [] } = incoming;
    const result = await journal.append({
      taskId,
      expectedSeq: 0,
      events,
      state: 'submitted',
      command: key,
      contents,
    });
    switch (result.type) {
      case 'appended':
        executor.wake(taskId);
        return { taskId, sessionId: target.sessionId, seq: result.entries.length };
      case 'repeated':
        return repeated(result.command, key);
      case 'session-busy':
        // Another message has just started the session's next task. This message belongs to that task.
        return command(result.taskId, incoming, key);
      case 'conflict':
        throw new Error(`two tasks got the id ${taskId}`);
    }
  }

  async function command(taskId: string, incoming: Incoming, key: CommandKey): Promise<Accepted> {
    const by: Decider = { principal: incoming.principal, channel: incoming.channel };
    const now = clock.now();
    const known = await load(taskId);
    const resolved = incoming.decisions && (await resolveDecisions(incoming.decisions, known, options));
    if (resolved?.type === 'outdated') throw await askedAgain(taskId, resolved);
    const decisions = resolved?.decisions;
    refuseFiles(incoming.message, known.settings.model, models);
    if (!decides(incoming)) refuseLongMessage(incoming.message, known.settings.model, models);
    const others = await differingSettings(incoming.settings, known.settings, options);
    const rule = (snapshot: Snapshot): LogChange => {
      if (decisions) return decide(snapshot, decisions, by, now);
      if (incoming.revoke) return revoke(snapshot, incoming.revoke, by, now);
      const bare = incoming.wordsDecide
        ? decisionInText(snapshot, incoming.message, incoming.taskId)
        : undefined;
      if (bare) return decide(snapshot, [bare], by, now);
      const ruling = acceptMessage(snapshot, incoming.message, incoming);
      if (ruling.type === 'append' && others.length > 0) return settingsRefusal(taskId, others);
      return ruling.type === 'append' && incoming.contents !== undefined
        ? { ...ruling, contents: incoming.contents }
        : ruling;
    };
    const { changed, snapshot } = await executor.command(taskId, rule, key);
    if (changed?.type === 'repeated') return repeated(changed.command, key);
    const as = snapshot ?? applied(changed, taskId).snapshot;
    return { taskId, sessionId: as.sessionId, seq: as.seq, snapshot: as };
  }

  /**
   * If a call's files have changed since the person saw them, asks the person again (D2).
   * @returns the refusal of the decision
   */
  async function askedAgain(
    taskId: string,
    { call, event }: Extract<DecisionsResult, { type: 'outdated' }>,
  ): Promise<ProductError> {
    await log.change(taskId, (s) => askAgain(s, call, event));
    const { reason, message, facts } = otherQuestionRefusal(call, 'content-changed');
    return new ProductError(reason, message, facts && { facts });
  }

  /**
   * Answers a repeated message with the task that its first copy started or continued (R27). The answer shows the
   * current end of the journal. So the client sees no question that a person has already decided. A different body with
   * the same message id is a conflict.
   */
  async function repeated(
    { taskId, sessionId, bodyHash, seq }: RecordedCommand,
    key: CommandKey,
  ): Promise<Accepted> {
    if (bodyHash !== key.bodyHash)
      throw new ProductError(
        'MESSAGE_CONFLICT',
        `Message id ${key.messageId} belongs to another message, in task ${taskId}. Nothing was changed. Send this message with a new id.`,
        { facts: { taskId, sessionId } },
      );
    const row = await journal.row(taskId);
    return { taskId, sessionId, seq: row?.seq ?? seq };
  }

  async function costs(principal: string, days: number): Promise<CostReport> {
    const toDay = utcDay(clock.now());
    const fromDay = toDay - days + 1;
    const report = costReport(await journal.costs({ principal, fromDay }), { fromDay, toDay });
    const sessions: CostReport['sessions'] = [];
    for (const each of report.sessions) {
      const [first] = each.sessionId === null ? [] : await journal.session(principal, each.sessionId);
      sessions.push({ ...each, title: first?.title ?? '' });
    }
    const { dailyBudget } = options;
    if (dailyBudget === undefined) return { ...report, sessions };
    const use = await journal.dailyUse(principal, toDay);
    const limitUsd = dailyLimit(use, dailyBudget);
    return { ...report, sessions, dailyBudget: { usd: dailyBudget, limitUsd, spentUsd: use.usd } };
  }

  async function checkedSettings(settings: TaskSettings): Promise<TaskSettings> {
    models.resolve(settings.model);
    const workspace = await options.openWorkspace(settings.workspace);
    return { ...settings, workspace: workspace.root };
  }

  async function load(taskId: string): Promise<Snapshot> {
    const snapshot = await log.load(taskId);
    if (snapshot === undefined) throw unknownTask(taskId);
    return snapshot;
  }

  return {
    send,
    async cancel(taskId, by, reason) {
      await ownRow(journal, taskId, by.principal);
      const { snapshot } = applied(await log.change(taskId, (s) => cancel(s, reason, by)), taskId);
      executor.stop(taskId, cancelCause(reason));
      return snapshot;
    },
    async cancelWork(taskId, by, left) {
      await ownRow(journal, taskId, by.principal);
      const { type } = applied(await log.change(taskId, (s) => cancelWork(s, left, by)), taskId);
      if (type === 'appended') executor.stop(taskId, cancelCause(left.reason));
    },
    toolExecutions: (principal) => executor.scheduler.of(principal),
    abortTool: (toolId, principal, reason) => executor.scheduler.abort(toolId, principal, reason),
    row: (taskId, principal) => ownRow(journal, taskId, principal),
    async snapshot(taskId, principal, atSeq) {
      await ownRow(journal, taskId, principal);
      const snapshot = await log.load(taskId, atSeq);
      if (snapshot === undefined) throw unknownTask(taskId);
      return snapshot;
    },
    costs,
    sessionCost: async (principal, sessionId) => sumCosts(await journal.costs({ principal, sessionId })),
    async file(taskId, principal, hash) {
      await ownRow(journal, taskId, principal);
      // The journal also stores the old content of changed files. Clients must not get that content.
      const file = filesOf(await load(taskId)).find((each) => each.hash === hash);
      const bytes = file && (await journal.content(taskId, hash));
      if (file === undefined || bytes === undefined)
        throw new ProductError(
          'UNKNOWN_ADDRESS',
          `Task ${taskId} has no such file. The task's metadata lists its files.`,
        );
      return { mediaType: file.mediaType, bytes };
    },
    list: (filter, page) => journal.list(filter, page),
    follow: (taskId, after, how) => followJournal(journal, taskId, after, how),
    async recover() {
      const recovered = await executor.recover();
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
  };
}

function cancelCause(reason: string): AbortCause {
  return { reason: 'task-cancel', message: `The task was cancelled: ${reason}` };
}

/**
 * Returns the events of an accepted command. @throws ProductError for the client if the pure core refuses the command
 */
function applied(
  changed: ChangeResult | undefined,
  taskId: string,
): Extract<ChangeResult, { snapshot: Snapshot }> {
  if (changed === undefined) throw unknownTask(taskId);
  if (changed.type === 'refuse') throw refusal(changed);
  if (changed.type === 'repeated') throw new Error('a command without a key cannot be repeated');
  return changed;
}

function refusal({ reason, message, facts }: CommandRefusal): ProductError {
  return new ProductError(reason, message, facts && { facts });
}

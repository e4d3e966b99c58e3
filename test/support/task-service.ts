/** The real task service on a real journal in a test directory, with the test's model. */
import type { z } from 'zod';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createToolsAndCommands } from '../../a2a-server/startup/tools-and-commands.ts';
import {
  createTaskService,
  type RunningTaskService,
  type MaintenanceSettings,
} from '../../a2a-server/executor/task-service.ts';
import { createIdGenerator } from '../../a2a-server/executor/task-journal/id-generator.ts';
import { createToolOutputReader } from '../../a2a-server/executor/tool-executions/output-reader.ts';
import type { PresenceVerifier } from '../../a2a-server/executor/messages/resolve-decisions.ts';
import type { ClientMessage } from '../../a2a-server/executor/messages/client-message.ts';
import type { TimeLimits } from '../../a2a-server/executor/abort-scopes/time-limits.ts';
import { openSqliteJournal } from '../../a2a-server/journal/sqlite/sqlite-journal.ts';
import type { OnRefused } from '../../a2a-server/limits/concurrency-limiter.ts';
import type { WritingLimits } from '../../a2a-server/limits/daily-writing.ts';
import type { FairExecutionSlots } from '../../a2a-server/limits/fair-execution-slots.ts';
import type { Journal } from '../../a2a-server/journal/journal.ts';
import type { Models } from '../../a2a-server/models/model.ts';
import type { ChildProcessRecords } from '../../a2a-server/processes/child-process-records.ts';
import { NO_BUDGET, type Budget } from '../../a2a-server/task/budget.ts';
import type { TaskEvent } from '../../a2a-server/task/events.ts';
import type { Snapshot } from '../../a2a-server/task/snapshot.ts';
import { createPolicy } from '../../a2a-server/policy/create-policy.ts';
import { rulesSchema, type ruleSchema } from '../../a2a-server/policy/rule.ts';
import { builtinTools } from '../../a2a-server/tools/builtin/builtin-tools.ts';
import type { Tool } from '../../a2a-server/tools/tool.ts';
import { createToolbox, type ToolSupply } from '../../a2a-server/tools/toolbox.ts';
import { openWorkspace } from '../../a2a-server/tools/workspace/workspace.ts';
import type { TaskMode } from '../../shared/protocol/tool-approval.ts';
import {
  ADA,
  commandMessage,
  decisionMessage,
  messageOf,
  pendingCall,
  type SomeDecision,
} from './client-message.ts';
import { cleanUpLater } from './clean-up.ts';
import { FakeClock } from './fake-clock.ts';
import { ScriptedModel, type ScriptedTurn } from './scripted-model.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { DEFAULT_LIMITS, NO_EXPIRY, NO_TIME_LIMITS, plainServiceParts } from './task-limits.ts';

export { ADA, commandMessage, decisionMessage, messageOf, pendingCall };

export interface RunningService {
  tasks: RunningTaskService;
  clock: FakeClock;
  failures: unknown[];
  stateDir: string;
  workspace: string;
  /** Stops the work and closes the journal, so that the next service can open it. */
  stop: () => Promise<void>;
  /** Stops this service. Starts the next one with the same directories, clock and options, except for the changes. */
  restart: (changes?: Partial<ServiceOptions>) => Promise<RunningService>;
}

export interface ServiceOptions {
  /** Defaults to a new directory. */
  stateDir?: string;
  /** Defaults to a new directory. */
  workspace?: string;
  models: Models;
  tools?: Tool[];
  /** A source of more tools, besides `tools`. */
  supply?: ToolSupply;
  /** Rules in the configuration file's format. */
  policy?: readonly z.input<typeof ruleSchema>[];
  /** The check of passkeys. By default, the service has none. */
  presence?: PresenceVerifier;
  /** The mode of a task that names none; defaults to `ask`. */
  mode?: TaskMode;
  /** True if the approver must not be a sender of the task's messages. */
  fourEyes?: boolean;
  limits?: Partial<TimeLimits>;
  budget?: Partial<Budget>;
  /** The limit in US dollars for each principal and UTC day. */
  dailyBudget?: number;
  /** Limits of written events that replace the defaults. */
  writingLimits?: Partial<WritingLimits>;
  /** Called when a limit refuses a message. */
  onRefused?: OnRefused;
  maintenance?: Partial<Omit<MaintenanceSettings, 'onFailure'>>;
  /** The clock of the service; by default a new one. A second service continues with the clock of the first. */
  clock?: FakeClock;
  onEnded?: (task: Snapshot) => void;
  /** Called for each failure, besides the list of `failures`. */
  onFailure?: (error: unknown) => void;
  /** An open journal. The default is on SQLite, in the state directory. */
  journal?: Journal;
  /** Wraps the journal, e.g. to delay or refuse its appends. */
  between?: (journal: Journal) => Journal;
  /** The places of running tasks. The default has the default limits. */
  slots?: FairExecutionSlots;
  /** The processes that an earlier service left running. */
  children?: Pick<ChildProcessRecords, 'endOrphans'>;
}

export async function startTaskService(options: ServiceOptions): Promise<RunningService> {
  const clock = options.clock ?? new FakeClock();
  const stateDir = options.stateDir ?? (await temporaryDirectory());
  const workspace = options.workspace ?? (await temporaryDirectory());
  const failures: unknown[] = [];
  const onFailure = (error: unknown): void => {
    failures.push(error);
    options.onFailure?.(error);
  };
  const journal =
    options.journal ??
    (await openSqliteJournal({ path: join(stateDir, 'journal.db'), clock: () => clock.now() }));
  const { tools, commands } = createToolsAndCommands({
    journal,
    tools: options.tools ?? builtinTools({ outputs: createToolOutputReader(journal) }),
  });
  const policy = createPolicy(rulesSchema.parse(options.policy ?? []), {
    tools: tools.map(({ name }) => name),
    fourEyes: options.fourEyes === true,
  });
  const tasks = createTaskService({
    ...plainServiceParts(),
    commands,
    journal: options.between?.(journal) ?? journal,
    clock,
    ids: createIdGenerator(clock),
    models: options.models,
    toolbox: createToolbox(tools, options.supply),
    policy: () => policy,
    writingLimits: () => ({ ...DEFAULT_LIMITS, ...options.writingLimits }),
    ...(options.onRefused && { onRefused: options.onRefused }),
    mode: options.mode ?? 'ask',
    ...(options.presence && { presence: options.presence }),
    openWorkspace: (path) => openWorkspace(path ?? workspace),
    graceMs: 5_000,
    limits: { ...NO_TIME_LIMITS, ...options.limits },
    budget: { ...NO_BUDGET, ...options.budget },
    ...(options.dailyBudget !== undefined && { dailyBudget: options.dailyBudget }),
    onFailure: (_taskId, error) => onFailure(error),
    ...(options.slots && { slots: options.slots }),
    ...(options.children && { children: options.children }),
    ...(options.onEnded && { onEnded: options.onEnded }),
    ...(options.maintenance && {
      maintenance: {
        expiry: NO_EXPIRY,
        retentionMs: null,
        clockCheck: { plausibleTime: () => Promise.resolve(clock.now()) },
        ...options.maintenance,
        onFailure,
      },
    }),
  });
  let stopped = false;
  const service: RunningService = {
    tasks,
    clock,
    failures,
    stateDir,
    workspace,
    async stop() {
      if (stopped) return;
      stopped = true;
      const shutdown = tasks.shutdown(0);
      // The grace period is over.
      clock.advance(0);
      await shutdown;
      await journal.close();
    },
    async restart(changes = {}) {
      await service.stop();
      return startTaskService({ ...options, stateDir, workspace, clock, ...changes });
    },
  };
  cleanUpLater(() => service.stop());
  return service;
}

/** Starts a service whose model plays these turns. */
export async function startScripted(turns: ScriptedTurn[], options: Partial<ServiceOptions> = {}) {
  const models = new ScriptedModel(turns);
  return { ...(await startTaskService({ models, ...options })), models };
}

/** Resolves when no task has an execution. */
export async function untilIdle(tasks: RunningTaskService): Promise<void> {
  while (tasks.executing() > 0) await nextTurn();
}

/** Resolves with the task when it has parked or ended after `seq`. */
export async function untilSettled(
  tasks: RunningTaskService,
  accepted: { taskId: string; seq: number },
  principal = ADA,
): Promise<Snapshot> {
  const { signal } = new AbortController();
  const now = await tasks.snapshot(accepted.taskId, { principal }, accepted.seq);
  if (now.status.state !== 'input-required')
    for await (const _ of tasks.follow(accepted.taskId, accepted.seq, { until: 'settled', signal }));
  return tasks.snapshot(accepted.taskId, { principal });
}

/** Like `untilSettled`. Also advances the clock to the end of each wait for the model. */
export async function settledAfterOutages(
  { tasks, clock }: RunningService,
  accepted: { taskId: string; seq: number },
): Promise<Snapshot> {
  const { signal } = new AbortController();
  for await (const batch of tasks.follow(accepted.taskId, 0, { until: 'ended', signal }))
    for (const { event } of batch)
      if (event.type === 'model.unavailable') {
        await untilIdle(tasks);
        clock.advance(event.until - clock.now());
      }
  return untilSettled(tasks, accepted);
}

/** Sends a message, and returns the snapshot when the task has parked or ended. */
export async function sendUntilSettled(
  tasks: RunningService['tasks'],
  message: ClientMessage,
): Promise<Snapshot> {
  return untilSettled(tasks, await tasks.send(message));
}

/** Decides the first call that waits, and returns the snapshot when the task has parked or ended. */
export function decideUntilSettled(
  tasks: RunningService['tasks'],
  saw: Snapshot,
  decision: 'approve' | 'deny' | SomeDecision = 'approve',
): Promise<Snapshot> {
  return sendUntilSettled(
    tasks,
    decisionMessage(saw, typeof decision === 'string' ? { decision } : decision),
  );
}

/** Returns all events of a task when it has ended. With `settled`, also when it has parked. */
export async function eventsOf(
  { tasks }: Pick<RunningService, 'tasks'>,
  taskId: string,
  until: 'settled' | 'ended' = 'settled',
): Promise<TaskEvent[]> {
  const events: TaskEvent[] = [];
  const { signal } = new AbortController();
  for await (const batch of tasks.follow(taskId, 0, { until, signal }))
    events.push(...batch.map(({ event }) => event));
  return events;
}

/** Resolves with the events from the start of the task to the first that matches. @throws if the task ends before */
export async function eventsUntil(
  { tasks }: Pick<RunningService, 'tasks'>,
  taskId: string,
  type: TaskEvent['type'],
): Promise<TaskEvent[]> {
  const events: TaskEvent[] = [];
  const { signal } = new AbortController();
  for await (const batch of tasks.follow(taskId, 0, { until: 'ended', signal }))
    for (const { event } of batch) {
      events.push(event);
      if (event.type === type) return events;
    }
  throw new Error(`the task has ended without ${type}`);
}

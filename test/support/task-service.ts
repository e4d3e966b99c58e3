/** The real task service on a real journal in a test directory, with the test's model. */
import { pendingActions } from '../../a2a-server/task/pending.ts';
import { afterEach } from '@jest/globals';
import type { z } from 'zod';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createToolsAndCommands } from '../../a2a-server/startup/tools-and-commands.ts';
import {
  createTaskService,
  type RunningTaskService,
  type MaintenanceSettings,
} from '../../a2a-server/executor/journal-task-service.ts';
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
import {
  TOOL_APPROVAL_EXTENSION,
  type Decision,
  type TaskMode,
} from '../../shared/protocol/tool-approval.ts';
import { FakeClock } from './fake-clock.ts';
import { DEFAULT_LIMITS, NO_EXPIRY, NO_TIME_LIMITS } from './task-limits.ts';

export const ADA = 'ada';

export interface RunningService {
  tasks: RunningTaskService;
  clock: FakeClock;
  failures: unknown[];
  /** Stops the work and closes the journal, so that the next service can open it. */
  stop(): Promise<void>;
}

const running = new Set<RunningService>();

afterEach(async () => {
  for (const service of running) await service.stop();
});

export async function startTaskService(options: {
  stateDir: string;
  workspace: string;
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
  /** An open journal. The default is on SQLite, in the state directory. */
  journal?: Journal;
  /** Wraps the journal, e.g. to delay or refuse its appends. */
  between?: (journal: Journal) => Journal;
  /** The places of running tasks. The default has the default limits. */
  slots?: FairExecutionSlots;
  /** The processes that an earlier service left running. */
  children?: Pick<ChildProcessRecords, 'endOrphans'>;
}): Promise<RunningService> {
  const clock = options.clock ?? new FakeClock();
  const failures: unknown[] = [];
  const journal =
    options.journal ??
    (await openSqliteJournal({ path: join(options.stateDir, 'journal.db'), clock: () => clock.now() }));
  const { tools, commands } = createToolsAndCommands({
    journal,
    tools: options.tools ?? builtinTools({ outputs: createToolOutputReader(journal) }),
  });
  const policy = createPolicy(rulesSchema.parse(options.policy ?? []), {
    tools: tools.map(({ name }) => name),
    fourEyes: options.fourEyes === true,
  });
  const tasks = createTaskService({
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
    openWorkspace: (path) => openWorkspace(path ?? options.workspace),
    graceMs: 5_000,
    limits: { ...NO_TIME_LIMITS, ...options.limits },
    budget: { ...NO_BUDGET, ...options.budget },
    ...(options.dailyBudget !== undefined && { dailyBudget: options.dailyBudget }),
    onFailure: (_taskId, error) => failures.push(error),
    ...(options.slots && { slots: options.slots }),
    ...(options.children && { children: options.children }),
    ...(options.onEnded && { onEnded: options.onEnded }),
    ...(options.maintenance && {
      maintenance: {
        expiry: NO_EXPIRY,
        retentionMs: null,
        ...options.maintenance,
        onFailure: (error: unknown) => failures.push(error),
      },
    }),
  });
  const service: RunningService = {
    tasks,
    clock,
    failures,
    async stop() {
      if (!running.delete(service)) return;
      const shutdown = tasks.shutdown(0);
      // The grace period is over.
      clock.advance(0);
      await shutdown;
      await journal.close();
    },
  };
  running.add(service);
  return service;
}

let messages = 0;

/** A message from ada with a new id. */
export function messageOf(text: string, more: Partial<ClientMessage> = {}): ClientMessage {
  messages += 1;
  return {
    principal: ADA,
    channel: 'test',
    message: { messageId: `message-${messages}`, parts: [{ type: 'text', text }] },
    bodyHash: `hash-${messages}`,
    settings: {},
    wordsDecide: false,
    ...more,
  };
}

/** Decisions from ada. Each carries the `shown` code of the snapshot that she saw. */
export function decisionMessage(
  saw: Snapshot,
  ...decisions: (Partial<Decision> & Pick<Decision, 'callId' | 'decision'>)[]
) {
  const pending = pendingActions(saw);
  const codeOf = (callId: string): string =>
    pending.find((action) => action.callId === callId)?.shown ?? 'not shown';
  return messageOf('', {
    taskId: saw.taskId,
    decisions: {
      extension: TOOL_APPROVAL_EXTENSION,
      decisions: decisions.map((decision) => ({
        scope: 'once' as const,
        shown: codeOf(decision.callId),
        ...decision,
      })),
    },
  });
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

/** Sends a message, and returns the snapshot when the task has parked or ended. */
export async function sendUntilSettled(
  tasks: RunningService['tasks'],
  message: ClientMessage,
): Promise<Snapshot> {
  return untilSettled(tasks, await tasks.send(message));
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

/** Returns the id of the first call that waits for a decision. */
export function pendingCall({ status }: Snapshot): string {
  const callId = status.state === 'input-required' ? status.pending[0]?.callId : undefined;
  if (callId === undefined) throw new Error(`nothing is pending, the task is ${status.state}`);
  return callId;
}

/** Creates the task service with the limits, budgets and time limits of the settings. */
import type { Clock } from '../../shared/runtime/clock.ts';
import type { ClockCheck } from '../executor/clock-check.ts';
import { createIdGenerator } from '../executor/task-journal/id-generator.ts';
import { createTaskService } from '../executor/task-service.ts';
import type { RunningTaskService } from '../executor/task-service.ts';
import type { PresenceVerifier } from '../executor/messages/resolve-decisions.ts';
import { KILL_CONFIRMATION_MS } from '../tools/builtin/builtin-tools.ts';
import { createToolbox } from '../tools/toolbox.ts';
import type { OnRefused } from '../limits/concurrency-limiter.ts';
import { createBusyDetector } from '../limits/busy-detector.ts';
import { FairExecutionSlots } from '../limits/fair-execution-slots.ts';
import { withRefusalLog } from './log-refused-task-requests.ts';
import type { createWorkspaceOpener } from './settings/open-allowed-workspace.ts';
import type { OpenedServer } from './prepare-server.ts';
import type { ToolsAndCommands } from './tools-and-commands.ts';

interface TaskServiceParts extends Pick<
  OpenedServer,
  'settings' | 'journal' | 'log' | 'worker' | 'live' | 'children' | 'mcpServers'
> {
  clock: Clock;
  clockCheck: ClockCheck;
  presence: PresenceVerifier;
  openWorkspace: ReturnType<typeof createWorkspaceOpener>;
  slots: FairExecutionSlots;
  onRefused: OnRefused;
}

/** Creates the slots in which tasks execute, with the limits and weights of the settings. */
export function createExecutionSlots({
  live,
  ...parts
}: Pick<TaskServiceParts, 'live' | 'clock' | 'onRefused'>): FairExecutionSlots {
  const { limits, weights } = live;
  const slots = new FairExecutionSlots({ limits, weights, busy: createBusyDetector(), ...parts });
  live.onChange(() => slots.limitsChanged());
  return slots;
}

/** Creates the task service. It starts no work before `recover`. */
export function createTaskServiceFromSettings(
  {
    settings,
    journal,
    log,
    worker,
    live,
    mcpServers,
    children,
    clock,
    clockCheck,
    presence,
    openWorkspace,
    slots,
    onRefused,
  }: TaskServiceParts,
  { tools, commands }: ToolsAndCommands,
): RunningTaskService {
  const tasks = createTaskService({
    journal,
    clock,
    ids: createIdGenerator(clock),
    models: worker.models,
    commands,
    children,
    toolbox: createToolbox(tools, mcpServers),
    policy: live.policy,
    mode: settings.mode,
    presence,
    openWorkspace,
    slots,
    writingLimits: live.limits,
    onRefused,
    // An aborted tool must settle in this time. A command that ignores SIGTERM gets SIGKILL after `grace` and ends a
    // little later. With `grace` alone, the server would report that command as unconfirmed.
    graceMs: settings.grace + KILL_CONFIRMATION_MS,
    limits: {
      toolMs: settings.toolTimeout,
      // Only a language model has this limit. A script has its own delays, and one turn of an ACP agent may be long.
      modelMs: settings.agent.type === 'model' ? settings.modelTimeout : null,
      turnMs: settings.turnTimeout,
      taskMs: settings.taskTimeout,
    },
    budget: {
      turns: settings.budgetTurns ?? null,
      toolCalls: settings.budgetToolCalls ?? null,
      tokens: settings.budgetTokens ?? null,
      usd: settings.budgetCost ?? null,
      activeMs: settings.budgetTime,
    },
    ...(settings.budgetCostPerDay !== undefined && { dailyBudget: settings.budgetCostPerDay }),
    ...(worker.onEnded && { onEnded: worker.onEnded }),
    onFailure: (taskId, error) => log.error({ taskId, err: error }, 'an error in the work on a task'),
    maintenance: {
      expiry: { decisionMs: settings.decisionTimeout, idleMs: settings.idleTimeout },
      retentionMs: settings.retention,
      clockCheck,
      onFailure: (error) => log.error({ err: error }, 'maintenance failed; the next round tries again'),
    },
  });
  return withRefusalLog(tasks, log);
}

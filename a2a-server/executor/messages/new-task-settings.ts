/** Computes the settings of a new task. The settings of a task never change. */
import type { TaskMode, TaskSettings } from '../../../shared/protocol/tool-approval.ts';
import { mayRunSomeUnasked, requireConsistentMode, taskModeOf } from '../../policy/task-mode.ts';
import type { CommandRefusal } from '../../task/command-outcome.ts';
import type { Snapshot } from '../../task/snapshot.ts';
import type { ExecutorOptions } from '../executions/executor.ts';

/**
 * Returns the settings of a new task. The settings in the message override the settings of the session's last task.
 * Both override the server's default mode.
 * @throws ProductError MALFORMED if the settings contradict each other
 */
export function newTaskSettings(
  asked: TaskSettings,
  previous: Snapshot | undefined,
  defaultMode: TaskMode,
): TaskSettings {
  const wanted = withoutUndefined(asked);
  const { mode: kept, ...taken } = inheritedSettings(previous);
  const settings = { ...taken, ...wanted };
  const chosen = wanted.mode !== undefined || wanted.autoExecute !== undefined;
  const mode = chosen ? wanted.mode : (kept ?? modeByDefault(settings, defaultMode));
  const beginning = mode === undefined ? settings : { ...settings, mode };
  requireConsistentMode(beginning);
  return beginning;
}

/**
 * Returns the settings that a session's next task inherits. A mode that runs calls without asking is not inherited. A
 * person must choose such a mode for each task.
 */
function inheritedSettings(previous: Snapshot | undefined): TaskSettings {
  const { autoExecute: _given, mode, ...settings } = previous?.settings ?? {};
  return mode === undefined || mayRunSomeUnasked({ mode }) ? settings : { ...settings, mode };
}

/** Returns the default mode. A default mode that runs calls without asking does not apply to a read-only task. */
function modeByDefault({ readOnly }: TaskSettings, mode: TaskMode): TaskMode | undefined {
  return mode === 'ask' || (readOnly === true && mayRunSomeUnasked({ mode })) ? undefined : mode;
}

/** X1: a sender who may not approve gets no default mode that runs calls unasked. */
export function defaultModeFor({ mayApprove = true }: { mayApprove?: boolean }, mode: TaskMode): TaskMode {
  return !mayApprove && mayRunSomeUnasked({ mode }) ? 'ask' : mode;
}

/** Removes undefined values, because such a value would override an inherited setting. */
function withoutUndefined(settings: TaskSettings): TaskSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** Returns the names of the requested settings that differ from the task's settings. */
export async function differingSettings(
  asked: TaskSettings,
  kept: TaskSettings,
  { openWorkspace }: Pick<ExecutorOptions, 'openWorkspace'>,
): Promise<string[]> {
  const { workspace, model, autoExecute, readOnly, mode } = asked;
  const opened = workspace && (await openWorkspace(workspace).catch(() => undefined));
  const same = {
    workspace: workspace === undefined || (opened && opened.root === kept.workspace),
    model: model === undefined || model === kept.model,
    autoExecute: autoExecute === undefined || autoExecute === (taskModeOf(kept) === 'auto'),
    readOnly: readOnly === undefined || readOnly === (kept.readOnly ?? false),
    mode: mode === undefined || mode === taskModeOf(kept),
  };
  return Object.entries(same).flatMap(([name, is]) => (is ? [] : [name]));
}

/**
 * Refuses settings that differ from the task's settings. If they were ignored, the sender would rely on settings that
 * do not apply.
 */
export function differentSettingsRefusal(taskId: string, others: readonly string[]): CommandRefusal {
  return {
    type: 'refuse',
    reason: 'MALFORMED',
    message: `Task ${taskId} has another ${others.join(' and another ')}, and its settings cannot change. Send the message without that setting, or send it after the end of the task, or start a new session.`,
    facts: { settings: others.join(' ') },
  };
}

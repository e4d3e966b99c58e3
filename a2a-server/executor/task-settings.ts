/** The settings a task begins with, and keeps to its end. */
import type { TaskMode, TaskSettings } from '../../shared/protocol/tool-approval.ts';
import { actsUnasked, checkLeave, modeOf } from '../policy/mode.ts';
import type { Refusal } from '../task/commands.ts';
import type { Snapshot } from '../task/snapshot.ts';
import type { ExecutorOptions } from './executor.ts';

/**
 * The settings a task begins with: what its message asks for, then what the session's last task had, then the server's
 * default mode. @throws ProductError MALFORMED where they contradict each other
 */
export function beginningSettings(
  asked: TaskSettings,
  previous: Snapshot | undefined,
  defaultMode: TaskMode,
): TaskSettings {
  const wanted = defined(asked);
  const { mode: kept, ...taken } = inherited(previous);
  const settings = { ...taken, ...wanted };
  const chosen = wanted.mode !== undefined || wanted.autoExecute !== undefined;
  const mode = chosen ? wanted.mode : (kept ?? modeByDefault(settings, defaultMode));
  const beginning = mode === undefined ? settings : { ...settings, mode };
  checkLeave(beginning);
  return beginning;
}

/** What a session's next task takes over: all but the leave to act without asking, which is given for a task. */
function inherited(previous: Snapshot | undefined): TaskSettings {
  const { autoExecute: _given, mode, ...settings } = previous?.settings ?? {};
  return mode === undefined || actsUnasked({ mode }) ? settings : { ...settings, mode };
}

/** Who asks for a task that only looks is not met by a default that acts unasked. */
function modeByDefault({ readOnly }: TaskSettings, mode: TaskMode): TaskMode | undefined {
  return mode === 'ask' || (readOnly === true && actsUnasked({ mode })) ? undefined : mode;
}

/** Without the keys that are undefined, so that they do not hide what came before. */
function defined(settings: TaskSettings): TaskSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** The names of the settings asked for that are not those a task has. */
export async function otherSettings(
  asked: TaskSettings,
  kept: TaskSettings,
  { openWorkspace }: Pick<ExecutorOptions, 'openWorkspace'>,
): Promise<string[]> {
  const { workspace, model, autoExecute, readOnly, mode } = asked;
  const opened = workspace && (await openWorkspace(workspace).catch(() => undefined));
  const same = {
    workspace: workspace === undefined || (opened && opened.root === kept.workspace),
    model: model === undefined || model === kept.model,
    autoExecute: autoExecute === undefined || autoExecute === (modeOf(kept) === 'auto'),
    readOnly: readOnly === undefined || readOnly === (kept.readOnly ?? false),
    mode: mode === undefined || mode === modeOf(kept),
  };
  return Object.entries(same).flatMap(([name, is]) => (is ? [] : [name]));
}

/** To pass over in silence what a message asks for would be to work elsewhere, or more freely, than its sender believes. */
export function keepsSettings(taskId: string, others: readonly string[]): Refusal {
  return {
    type: 'refuse',
    reason: 'MALFORMED',
    message: `Task ${taskId} is under way with another ${others.join(' and another ')}, and keeps it to its end. Leave that setting out; or wait for the end, or cancel the task, and send the message again; or start a new session.`,
    facts: { settings: others.join(' ') },
  };
}

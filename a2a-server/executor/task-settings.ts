/** The settings a task begins with, and keeps to its end. */
import type { TaskSettings } from '../../shared/protocol/tool-approval.ts';
import type { Refusal } from '../task/commands.ts';
import type { Snapshot } from '../task/snapshot.ts';
import type { ExecutorOptions } from './executor.ts';

/** What a session's next task takes over: all but the leave to act without asking, which is given for a task. */
export function inherited(previous: Snapshot | undefined): TaskSettings {
  const { autoExecute: _given, ...settings } = previous?.settings ?? {};
  return settings;
}

/** Without the keys that are undefined, so that they do not hide what came before. */
export function defined(settings: TaskSettings): TaskSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** The names of the settings asked for that are not those a task has. */
export async function otherSettings(
  asked: TaskSettings,
  kept: TaskSettings,
  { openWorkspace }: Pick<ExecutorOptions, 'openWorkspace'>,
): Promise<string[]> {
  const { workspace, model, autoExecute, readOnly } = asked;
  const opened = workspace && (await openWorkspace(workspace).catch(() => undefined));
  const same = {
    workspace: workspace === undefined || (opened && opened.root === kept.workspace),
    model: model === undefined || model === kept.model,
    autoExecute: autoExecute === undefined || autoExecute === (kept.autoExecute ?? false),
    readOnly: readOnly === undefined || readOnly === (kept.readOnly ?? false),
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

/** Reads a task's mode from its settings. `autoExecute: true` is the older form of mode `auto`. */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { TaskMode, TaskSettings } from '../../shared/protocol/tool-approval.ts';

type ModeSettings = Pick<TaskSettings, 'mode' | 'autoExecute' | 'readOnly'>;

export function taskModeOf({ mode, autoExecute }: ModeSettings): TaskMode {
  return mode ?? (autoExecute ? 'auto' : 'ask');
}

/** Returns true if the task refuses each tool call with side effects without asking. */
export function isReadOnlyMode(settings: ModeSettings): boolean {
  return settings.readOnly === true || taskModeOf(settings) === 'plan';
}

/**
 * Returns true if some tool calls with side effects run without asking. The session's next task does not inherit such a
 * mode.
 */
export function mayRunSomeUnasked(settings: ModeSettings): boolean {
  const mode = taskModeOf(settings);
  return mode === 'auto' || mode === 'accept-edits';
}

/** Checks the mode settings of a task. @throws ProductError MALFORMED if they contradict each other */
export function requireConsistentMode({ mode, autoExecute, readOnly }: ModeSettings): void {
  if (mode === undefined) return;
  if (autoExecute !== undefined && autoExecute !== (mode === 'auto'))
    throw contradictionError(`mode "${mode}" contradicts autoExecute ${autoExecute}`);
  if (readOnly === true && mayRunSomeUnasked({ mode }))
    throw contradictionError(`mode "${mode}" contradicts readOnly true`);
  if (readOnly === false && mode === 'plan')
    throw contradictionError('mode "plan" contradicts readOnly false');
}

function contradictionError(what: string): ProductError {
  return new ProductError(
    'MALFORMED',
    `The settings of the task contradict each other: ${what}. Send one of the two, or values that agree. Settings that the message omits come from the session's last task.`,
  );
}

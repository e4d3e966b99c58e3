/** What a task's settings say of acting unasked. `autoExecute` is the older word for mode `auto`. */
import { ProductError } from '../../shared/errors.ts';
import type { TaskMode, TaskSettings } from '../../shared/protocol/tool-approval.ts';

type Leave = Pick<TaskSettings, 'mode' | 'autoExecute' | 'readOnly'>;

export function modeOf({ mode, autoExecute }: Leave): TaskMode {
  return mode ?? (autoExecute ? 'auto' : 'ask');
}

/** Nothing with side effects runs, nor is asked for. */
export function onlyLooks(settings: Leave): boolean {
  return settings.readOnly === true || modeOf(settings) === 'plan';
}

/** Whether the mode lets something with side effects run unasked. Such leave is given for a task, and no other takes it over. */
export function actsUnasked(settings: Leave): boolean {
  const mode = modeOf(settings);
  return mode === 'auto' || mode === 'accept-edits';
}

/** @throws ProductError MALFORMED for settings that contradict each other */
export function checkLeave({ mode, autoExecute, readOnly }: Leave): void {
  if (mode === undefined) return;
  if (autoExecute !== undefined && autoExecute !== (mode === 'auto'))
    throw contradiction(`mode "${mode}" contradicts autoExecute ${autoExecute}`);
  if (readOnly === true && actsUnasked({ mode }))
    throw contradiction(`mode "${mode}" contradicts readOnly true`);
  if (readOnly === false && mode === 'plan') throw contradiction('mode "plan" contradicts readOnly false');
}

function contradiction(what: string): ProductError {
  return new ProductError(
    'MALFORMED',
    `The settings of the task contradict each other: ${what}. Send one of the two, or values that agree; what the session's last task had counts where the message says nothing.`,
  );
}

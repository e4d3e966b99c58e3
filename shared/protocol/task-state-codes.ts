import { TaskState } from '@a2a-js/sdk';
import { TERMINAL_TASK_STATES, type TASK_STATES } from './task-states.ts';

/** The codes of the task states in the A2A SDK. */
export const TASK_STATE_CODES: Readonly<Record<(typeof TASK_STATES)[number], TaskState>> = {
  submitted: TaskState.TASK_STATE_SUBMITTED,
  working: TaskState.TASK_STATE_WORKING,
  'input-required': TaskState.TASK_STATE_INPUT_REQUIRED,
  'auth-required': TaskState.TASK_STATE_AUTH_REQUIRED,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  canceled: TaskState.TASK_STATE_CANCELED,
  rejected: TaskState.TASK_STATE_REJECTED,
};

export const TERMINAL_TASK_STATE_CODES: ReadonlySet<TaskState> = new Set(
  TERMINAL_TASK_STATES.map((name) => TASK_STATE_CODES[name]),
);

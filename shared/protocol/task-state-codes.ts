import { TaskState } from '@a2a-js/sdk';
import type { TASK_STATES } from './task-states.ts';

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

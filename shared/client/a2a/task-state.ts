import type { TaskState } from '../core/task-report.ts';

/** The states of a task that the agent reports. Such a task is always delivered. */
export type DeliveredState = Exclude<TaskState, 'not-delivered'>;

/** A2A 1.0 §4.1.3. */
const STATES: Readonly<Record<string, DeliveredState>> = {
  TASK_STATE_SUBMITTED: 'working',
  TASK_STATE_WORKING: 'working',
  TASK_STATE_INPUT_REQUIRED: 'waiting',
  TASK_STATE_AUTH_REQUIRED: 'waiting',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_CANCELED: 'canceled',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_REJECTED: 'rejected',
};

/** An unknown state of a later A2A version counts as `working`. */
export function taskStateOf(wire: string): DeliveredState {
  return STATES[wire] ?? 'working';
}

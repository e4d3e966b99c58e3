/** The states of A2A as this client tells them. */
import type { TaskState } from '../task-report.ts';

/** A2A 1.0 §4.1.3. */
const STATES: Readonly<Record<string, TaskState>> = {
  TASK_STATE_SUBMITTED: 'working',
  TASK_STATE_WORKING: 'working',
  TASK_STATE_INPUT_REQUIRED: 'waiting',
  TASK_STATE_AUTH_REQUIRED: 'waiting',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_CANCELED: 'canceled',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_REJECTED: 'failed',
};

/** A state of a later version is one in which the task goes on. */
export function stateOf(wire: string): TaskState {
  return STATES[wire] ?? 'working';
}

import type { TaskState } from '../core/task-report.ts';

/** The task states that an agent can report. The agent has the task, so `not-delivered` is not among them. */
export type AgentTaskState = Exclude<TaskState, 'not-delivered'>;

/** A2A 1.0 §4.1.3: the names of the task states. */
const STATES: Readonly<Record<string, AgentTaskState>> = {
  TASK_STATE_SUBMITTED: 'working',
  TASK_STATE_WORKING: 'working',
  TASK_STATE_INPUT_REQUIRED: 'waiting',
  TASK_STATE_AUTH_REQUIRED: 'waiting',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_CANCELED: 'canceled',
  TASK_STATE_FAILED: 'failed',
  TASK_STATE_REJECTED: 'rejected',
};

/** Converts an A2A task state. An unknown state, e.g. of a later A2A version, becomes `working`. */
export function taskStateOf(wire: string): AgentTaskState {
  return Object.hasOwn(STATES, wire) ? (STATES[wire] ?? 'working') : 'working';
}

import type * as z from 'zod/mini';
import { TOOL_APPROVAL_EXTENSION } from '../../protocol/extensions.ts';
import { notDoneText } from '../../protocol/not-done-text.ts';
import type { taskListSchema, WireUsage } from './wire.ts';
import type { TaskState } from '../core/task-report.ts';

export interface ListedTask {
  taskId: string;
  sessionId: string;
  /** The first line of the user's message. */
  title: string;
  state: AgentTaskState;
  /**
   * Names the tool calls that a completed task did not do, e.g. `not done: Write a.txt (denied)`. '' if there are none.
   */
  notDone: string;
  /** The time of the last update in RFC 3339. Null if the agent omits it. */
  updatedAt: string | null;
  /** The cost of the task, and of all tasks of its session. Null if the agent does not report it. */
  cost: { task: WireUsage; session: WireUsage } | null;
}

export interface TaskList {
  /** All tasks that wait for a person, then the newest other tasks. */
  tasks: readonly ListedTask[];
  /** The number of all tasks, as the agent reports it. `tasks` may contain fewer. */
  total: number;
}

const MAX_TITLE_CHARACTERS = 200;

export function toListedTask({
  id,
  contextId,
  status,
  history,
  metadata,
}: z.output<typeof taskListSchema>['tasks'][number]): ListedTask {
  const words = (history[0]?.parts ?? []).map(({ text }) => text ?? '').join('');
  const state = taskStateOf(status.state);
  const { calls = [], usage, sessionUsage } = metadata?.[TOOL_APPROVAL_EXTENSION] ?? {};
  return {
    taskId: id,
    sessionId: contextId,
    title: (words.trim().split('\n')[0] ?? '').slice(0, MAX_TITLE_CHARACTERS),
    state,
    notDone: notDoneText(state, calls),
    updatedAt: status.timestamp ?? null,
    cost: usage === undefined ? null : { task: usage, session: sessionUsage ?? usage },
  };
}

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

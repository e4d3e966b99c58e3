/**
 * Observations are what the bridge reads from one A2A event, in one format for all agents. A dialect produces them, and
 * a fold turns them into the task view. Both are pure.
 */
import type { EventCost } from '../../shared/protocol/cost-report.ts';
import type { Activity, Aside, PendingAction, TaskOverview } from '../../shared/protocol/tool-approval.ts';
import type { Question } from './asked-question.ts';
import type { TurnObservation } from './turn-observation.ts';

export type { Question };

/** The states of A2A 1.0 §4.1.3, in lower case. `unknown` stands for a state that this version does not know. */
export const TASK_STATE_NAMES = [
  'submitted',
  'working',
  'input-required',
  'auth-required',
  'completed',
  'failed',
  'canceled',
  'rejected',
  'unknown',
] as const;
export type TaskStateName = (typeof TASK_STATE_NAMES)[number];

/**
 * The states of a session: the states of its task, and two that only the bridge knows. `not-delivered`: the agent has
 * not confirmed the newest message. `unknown-to-agent`: the agent no longer has this task.
 */
export const SESSION_STATE_NAMES = [...TASK_STATE_NAMES, 'not-delivered', 'unknown-to-agent'] as const;
export type SessionStateName = (typeof SESSION_STATE_NAMES)[number];

export interface Output {
  id: string;
  name: string;
  text: string;
  /** The kind of the artifact, if it is not part of the answer. */
  aside?: Aside;
}

export type Observation =
  /** The complete current task. It replaces all earlier observations. */
  | {
      type: 'snapshot';
      taskId: string;
      sessionId: string;
      state: TaskStateName;
      text: string;
      pending: readonly PendingAction[];
      question: Question | null;
      outputs: readonly Output[];
      /** The agent's last message in the history; '' if there is none. Agents without artifacts answer there. */
      reply: string;
      overview: TaskOverview | null;
    }
  | {
      type: 'status';
      taskId: string;
      sessionId: string;
      state: TaskStateName;
      text: string;
      pending: readonly PendingAction[];
      question: Question | null;
      at?: string;
    }
  /** `at` is an RFC 3339 time, if the agent reports it. */
  | { type: 'activity'; activity: Activity; at?: string }
  | { type: 'output'; taskId: string; sessionId: string; output: Output; append: boolean }
  /** A piece of the model's reasoning. It is not part of the answer. Only a stream with `thinking` has it. */
  | { type: 'reasoning'; taskId: string; sessionId: string; turn: number; text: string }
  /** The cost of the request to the model that ended with this event. */
  | { type: 'cost'; taskId: string; sessionId: string; cost: EventCost }
  /** The agent answered with a message and created no task. */
  | { type: 'reply'; taskId: string; sessionId: string; text: string }
  | TurnObservation;

export interface Observed {
  seq: number | null;
  observations: readonly Observation[];
}

/**
 * The observations that a client reads from one A2A event. They do not depend on the agent. A dialect turns an event
 * into observations. A fold of the observations gives the task view. Both are pure.
 */
import type { Activity, Aside, PendingAction, TaskOverview } from '../../shared/protocol/tool-approval.ts';
import type { Question } from './question-form.ts';
import type { TurnObservation } from './turn-observation.ts';

export type { Question };

/** The states of A2A 1.0 §4.1.3, in lower case. `unknown` is a state that this version does not know. */
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
 * The states of a session: those of its task, and two that the agent does not report. `not-delivered`: the agent has
 * not confirmed the newest message. `unknown-to-agent`: the agent no longer has this task.
 */
export const SESSION_STATE_NAMES = [...TASK_STATE_NAMES, 'not-delivered', 'unknown-to-agent'] as const;
export type SessionStateName = (typeof SESSION_STATE_NAMES)[number];

/** A piece of the agent's output. */
export interface Output {
  id: string;
  name: string;
  text: string;
  /** Its kind, if it is not part of the answer. */
  aside?: Aside;
}

export type Observation =
  /** The whole current task. It replaces everything that was known before. */
  | {
      type: 'snapshot';
      taskId: string;
      sessionId: string;
      state: TaskStateName;
      text: string;
      pending: readonly PendingAction[];
      question: Question | null;
      outputs: readonly Output[];
      /** The agent's last message in the history, if any: agents without artifacts answer there. */
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
      /** As in an activity. */
      at?: string;
    }
  /** `at`: the time, RFC 3339, if the agent reports it. */
  | { type: 'activity'; activity: Activity; at?: string }
  | { type: 'output'; taskId: string; sessionId: string; output: Output; append: boolean }
  /** The agent answered with a message and made no task. */
  | { type: 'reply'; taskId: string; sessionId: string; text: string }
  | TurnObservation;

/** The observations of an event, with its `seq` if the agent sends one. */
export interface Observed {
  seq: number | null;
  observations: readonly Observation[];
}

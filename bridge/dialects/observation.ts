/**
 * What a client learns from one A2A event, in words that do not depend on the agent that sent it. A dialect reads an
 * event into observations; the fold of a task's observations is its view. Both are pure.
 */
import type { Activity, Aside, PendingAction, TaskOverview } from '../../shared/protocol/tool-approval.ts';
import type { Question } from './question-form.ts';
import type { TurnObservation } from './turn-observation.ts';

export type { Question };

/** The states of A2A 1.0 §4.1.3, in lower case. `unknown` is a state this version has not heard of. */
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

/** A piece of what the agent has produced. */
export interface Output {
  id: string;
  name: string;
  text: string;
  /** What it is where it is no part of the answer. */
  aside?: Aside;
}

export type Observation =
  /** The whole task as of now: what was known of it before is replaced. */
  | {
      type: 'snapshot';
      taskId: string;
      sessionId: string;
      state: TaskStateName;
      text: string;
      pending: readonly PendingAction[];
      question: Question | null;
      outputs: readonly Output[];
      /** The agent's last message in the history, if any: agents that make no artifacts leave their answer there. */
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
    }
  /** `at`: when, RFC 3339, where the agent says it. */
  | { type: 'activity'; activity: Activity; at?: string }
  | { type: 'output'; taskId: string; sessionId: string; output: Output; append: boolean }
  /** The agent answered with a message and made no task of it. */
  | { type: 'reply'; taskId: string; sessionId: string; text: string }
  | TurnObservation;

/** An event as observed, with its place in the agent's journal when the agent says it. */
export interface Observed {
  seq: number | null;
  observations: readonly Observation[];
}

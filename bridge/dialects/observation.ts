/**
 * Observations: what the bridge reads from one A2A event, in the same form for all agents. A dialect converts events to
 * observations. A fold then combines them to the view of a task (`sessions/session/observed-task.ts`). Both are pure.
 */
import { TASK_STATES } from '../../shared/protocol/task-states.ts';
import type { EventCost } from '../../shared/protocol/cost-report.ts';
import type {
  ToolCallEvent,
  ArtifactRole,
  PendingAction,
  TaskOverview,
} from '../../shared/protocol/tool-approval.ts';
import type { PlainTextQuestion } from './plain-text-question.ts';
import type { TaskAndSessionId, TurnObservation } from './turn-observation.ts';

export type { PlainTextQuestion };

/** The states of a task, and `unknown` for a state that this version does not know. */
export const TASK_STATE_NAMES = [...TASK_STATES, 'unknown'] as const;
export type TaskStateName = (typeof TASK_STATE_NAMES)[number];

/**
 * The states of a session: the states of its task, and two that only the bridge knows. `not-delivered`: the agent has
 * not confirmed the newest message. `unknown-to-agent`: the agent no longer has the task.
 */
export const SESSION_STATE_NAMES = [...TASK_STATE_NAMES, 'not-delivered', 'unknown-to-agent'] as const;
export type SessionStateName = (typeof SESSION_STATE_NAMES)[number];

export interface ObservedArtifact {
  id: string;
  name: string;
  text: string;
  /** What the artifact contains. Absent if it is part of the agent's answer. */
  aside?: ArtifactRole;
}

/** What a task and its status have in common. */
export interface ObservedStatus {
  state: TaskStateName;
  /** The text of the A2A status. */
  text: string;
  pending: readonly PendingAction[];
  question: PlainTextQuestion | null;
}

export type Observation =
  /** A step of a tool call. `at` is a time in RFC 3339, if the agent reports it. */
  { type: 'activity'; activity: ToolCallEvent; at?: string } | TaskObservation | TurnObservation;

type TaskObservation = TaskAndSessionId &
  (
    | { type: 'output'; output: ObservedArtifact; append: boolean }
    /** The complete current task. It replaces everything that earlier observations said. */
    | ({
        type: 'snapshot';
        outputs: readonly ObservedArtifact[];
        /**
         * The agent's last message in the history. Agents without artifacts answer with this message. '' if there is
         * none.
         */
        reply: string;
        overview: TaskOverview | null;
      } & ObservedStatus)
    | ({
        type: 'status';
        /** The text, if it may be the agent's answer. Some agents end the task without repeating this text. */
        reply?: string;
        at?: string;
      } & ObservedStatus)
    /** A piece of the model's reasoning, which is not part of the answer. Only streams with `thinking` contain it. */
    | { type: 'reasoning'; turn: number; text: string }
    /** The cost of a model request that has ended. */
    | { type: 'cost'; cost: EventCost }
    /** The agent has answered with a message, and has created no task. */
    | { type: 'reply'; text: string }
  );

export interface ObservedEvent {
  seq: number | null;
  observations: readonly Observation[];
}

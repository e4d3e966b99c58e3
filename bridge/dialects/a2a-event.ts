/** Reads what all A2A agents have in common in their events: states, artifacts and messages. */
import { Role } from '@a2a-js/sdk';
import type { Artifact, Part, StreamResponse, Task, TaskStatus } from '@a2a-js/sdk';
import type { EventCost } from '../../shared/protocol/cost-report.ts';
import { TASK_STATE_CODES } from '../../shared/protocol/task-state-codes.ts';
import { TASK_STATES } from '../../shared/protocol/task-states.ts';
import type { ToolCallEvent, ArtifactRole, TaskOverview } from '../../shared/protocol/tool-approval.ts';
import type {
  Observation,
  ObservedEvent,
  ObservedArtifact,
  ObservedStatus,
  TaskStateName,
} from './observation.ts';
import { messageText, partsAsText } from './parts.ts';
import type { TaskAndSessionId } from './turn-observation.ts';

interface AskedInStatus extends Pick<ObservedStatus, 'pending' | 'question'> {
  /** The parts that contain the actions. They are left out of the text of the status. */
  actionParts: readonly Part[];
}

/** The functions with which a dialect reads its own message parts and metadata. */
export interface DialectFieldReaders {
  /** Returns the pending actions and the question that a status waits for. */
  asked(status: TaskStatus, taskId: string): AskedInStatus;
  activity(metadata: unknown): ToolCallEvent | null;
  overview(metadata: unknown): TaskOverview | null;
  seq(metadata: unknown): number | null;
  /**
   * Returns the number of a turn if the text of the status is that turn's reasoning. Absent if the dialect has no
   * reasoning.
   */
  reasoningTurn?(metadata: unknown): number | null;
  /**
   * True if the agent may answer with a message in the status `working`. Such agents end the task without a message and
   * without artifacts, e.g. those of Microsoft Agent Framework.
   */
  answersInStatus?: true;
  /** Returns the cost of one request to the model. Absent if the dialect does not report costs. */
  cost?(metadata: unknown): EventCost | null;
  /**
   * Returns what an artifact contains if it is not part of the agent's answer. Absent if the dialect has no such
   * artifacts.
   */
  aside?(metadata: unknown): ArtifactRole | null;
}

export const TASK_STATE_NAME_BY_CODE: Readonly<Record<number, TaskStateName>> = Object.fromEntries(
  TASK_STATES.map((name) => [TASK_STATE_CODES[name], name]),
);

/** Reads one event of a stream, or a task in the form of an event. Returns no observations for an empty event. */
export function readA2aEvent(event: StreamResponse, reading: DialectFieldReaders): ObservedEvent {
  const payload = event.payload;
  if (payload === undefined) return { seq: null, observations: [] };
  switch (payload.$case) {
    case 'task':
      return { seq: reading.seq(payload.value.metadata), observations: [snapshotOf(payload.value, reading)] };
    case 'statusUpdate': {
      const { taskId, contextId, status, metadata } = payload.value;
      const of = { taskId, sessionId: contextId };
      const turn = reading.reasoningTurn?.(metadata) ?? null;
      if (turn !== null) {
        const text = messageText(status?.message);
        return { seq: reading.seq(metadata), observations: [{ type: 'reasoning', ...of, turn, text }] };
      }
      const observations: Observation[] = [];
      const activity = reading.activity(metadata);
      const at = status?.timestamp;
      if (activity !== null)
        observations.push({ type: 'activity', activity, ...(at === undefined ? {} : { at }) });
      if (status !== undefined) {
        const read = statusOf(status, taskId, reading);
        const answers = reading.answersInStatus === true && read.state === 'working' && read.text !== '';
        observations.push({
          type: 'status',
          ...of,
          ...read,
          ...(answers ? { reply: read.text } : {}),
          ...(at === undefined ? {} : { at }),
        });
      }
      observations.push(...costOf(metadata, of, reading));
      return { seq: reading.seq(metadata), observations };
    }
    case 'artifactUpdate': {
      const { taskId, contextId, artifact, append, metadata } = payload.value;
      if (artifact === undefined) return { seq: reading.seq(metadata), observations: [] };
      const of = { taskId, sessionId: contextId };
      const output = outputOf(artifact, reading);
      return {
        seq: reading.seq(metadata),
        observations: [{ type: 'output', ...of, output, append }, ...costOf(metadata, of, reading)],
      };
    }
    case 'message': {
      const { taskId, contextId } = payload.value;
      const text = messageText(payload.value);
      return { seq: null, observations: [{ type: 'reply', taskId, sessionId: contextId, text }] };
    }
  }
}

function costOf(metadata: unknown, of: TaskAndSessionId, reading: DialectFieldReaders): Observation[] {
  const cost = reading.cost?.(metadata) ?? null;
  return cost === null ? [] : [{ type: 'cost', ...of, cost }];
}

function snapshotOf(task: Task, reading: DialectFieldReaders): Observation {
  return {
    type: 'snapshot',
    taskId: task.id,
    sessionId: task.contextId,
    ...(task.status === undefined
      ? { state: 'unknown', text: '', pending: [], question: null }
      : statusOf(task.status, task.id, reading)),
    outputs: task.artifacts.map((artifact) => outputOf(artifact, reading)),
    reply: messageText(task.history.findLast((message) => message.role === Role.ROLE_AGENT)),
    overview: reading.overview(task.metadata),
  };
}

function statusOf(status: TaskStatus, taskId: string, reading: DialectFieldReaders) {
  const { actionParts, ...asked } = reading.asked(status, taskId);
  return {
    state: TASK_STATE_NAME_BY_CODE[status.state] ?? 'unknown',
    text: messageText(status.message, actionParts),
    ...asked,
  };
}

function outputOf(artifact: Artifact, reading: DialectFieldReaders): ObservedArtifact {
  const aside = reading.aside?.(artifact.metadata) ?? null;
  return {
    ...(aside === null ? {} : { aside }),
    id: artifact.artifactId,
    name: artifact.name,
    text: partsAsText(artifact.parts, artifact.name || undefined),
  };
}

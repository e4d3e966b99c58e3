/** Reads the parts that are the same in the events of every A2A agent: states, artifacts, replies. */
import { Role, TaskState } from '@a2a-js/sdk';
import type { Artifact, Part, StreamResponse, Task, TaskStatus } from '@a2a-js/sdk';
import type { Activity, Aside, PendingAction, TaskOverview } from '../../shared/protocol/tool-approval.ts';
import type { Observation, Observed, Output, Question, TaskStateName } from './observation.ts';
import { messageText, partsText } from './parts.ts';

/** How a dialect reads its own parts and metadata. */
export interface DialectReading {
  /** What a status waits for. `isOwn` selects the parts that ask for it; these parts are not shown a second time. */
  asked(status: TaskStatus, taskId: string): { pending: readonly PendingAction[]; question: Question | null };
  isOwn(part: Part): boolean;
  activity(metadata: unknown): Activity | null;
  overview(metadata: unknown): TaskOverview | null;
  seq(metadata: unknown): number | null;
  /** The kind of an artifact that is not part of the answer. Absent if the dialect has no such artifacts. */
  aside?(metadata: unknown): Aside | null;
}

export const TASK_STATE_NAME_BY_CODE: Readonly<Record<number, TaskStateName>> = {
  [TaskState.TASK_STATE_SUBMITTED]: 'submitted',
  [TaskState.TASK_STATE_WORKING]: 'working',
  [TaskState.TASK_STATE_COMPLETED]: 'completed',
  [TaskState.TASK_STATE_FAILED]: 'failed',
  [TaskState.TASK_STATE_CANCELED]: 'canceled',
  [TaskState.TASK_STATE_INPUT_REQUIRED]: 'input-required',
  [TaskState.TASK_STATE_REJECTED]: 'rejected',
  [TaskState.TASK_STATE_AUTH_REQUIRED]: 'auth-required',
};

/** Reads one event of a stream, or a task in the form of an event. An empty event gives no observations. */
export function readEvent(event: StreamResponse, reading: DialectReading): Observed {
  const payload = event.payload;
  if (payload === undefined) return { seq: null, observations: [] };
  switch (payload.$case) {
    case 'task':
      return { seq: reading.seq(payload.value.metadata), observations: [snapshotOf(payload.value, reading)] };
    case 'statusUpdate': {
      const { taskId, contextId, status, metadata } = payload.value;
      const observations: Observation[] = [];
      const activity = reading.activity(metadata);
      const at = status?.timestamp;
      if (activity !== null)
        observations.push({ type: 'activity', activity, ...(at === undefined ? {} : { at }) });
      // A decision on one call does not change the other calls, so the status is ignored.
      if (status !== undefined && activity?.type !== 'tool.decided') {
        observations.push({
          type: 'status',
          taskId,
          sessionId: contextId,
          ...statusOf(status, taskId, reading),
          ...(at === undefined ? {} : { at }),
        });
      }
      return { seq: reading.seq(metadata), observations };
    }
    case 'artifactUpdate': {
      const { taskId, contextId, artifact, append, metadata } = payload.value;
      if (artifact === undefined) return { seq: reading.seq(metadata), observations: [] };
      const output = outputOf(artifact, reading);
      return {
        seq: reading.seq(metadata),
        observations: [{ type: 'output', taskId, sessionId: contextId, output, append }],
      };
    }
    case 'message': {
      const { taskId, contextId } = payload.value;
      const text = messageText(payload.value);
      return { seq: null, observations: [{ type: 'reply', taskId, sessionId: contextId, text }] };
    }
  }
}

function snapshotOf(task: Task, reading: DialectReading): Observation {
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

function statusOf(status: TaskStatus, taskId: string, reading: DialectReading) {
  return {
    state: TASK_STATE_NAME_BY_CODE[status.state] ?? 'unknown',
    text: messageText(status.message, (part) => reading.isOwn(part)),
    ...reading.asked(status, taskId),
  };
}

function outputOf(artifact: Artifact, reading: DialectReading): Output {
  const aside = reading.aside?.(artifact.metadata) ?? null;
  return {
    ...(aside === null ? {} : { aside }),
    id: artifact.artifactId,
    name: artifact.name,
    text: partsText(artifact.parts, artifact.name || undefined),
  };
}

/** Parses the tasks and events of an A2A 1.0 server with both extensions on. */
import { z } from 'zod';
import { eventCostSchema, type EventCost } from '../../shared/protocol/cost-report.ts';
import {
  RESUMABLE_STREAM_EXTENSION,
  streamPositionSchema,
} from '../../shared/protocol/resumable-stream-extension.ts';
import {
  toolCallEventSchema,
  pendingActionsPartSchema,
  taskOverviewSchema,
  TOOL_APPROVAL_EXTENSION,
  type ToolCallEvent,
  type PendingAction,
} from '../../shared/protocol/tool-approval.ts';

const message = z.object({
  messageId: z.string(),
  role: z.string(),
  parts: z.array(z.object({ text: z.string().optional(), data: z.unknown().optional() })),
});
const status = z.object({
  state: z.string().transform((state) => state.replace(/^TASK_STATE_/, '')),
  message: message.optional(),
});
const artifact = z.object({ artifactId: z.string(), parts: z.array(z.object({ text: z.string() })) });
const position = { [RESUMABLE_STREAM_EXTENSION]: streamPositionSchema };

const cost = z.optional(eventCostSchema);

const wireTask = z.object({
  id: z.string(),
  contextId: z.string(),
  status,
  artifacts: z.array(artifact).default([]),
  history: z.array(message).default([]),
  metadata: z.object({ ...position, [TOOL_APPROVAL_EXTENSION]: taskOverviewSchema }),
});

const wireEvent = z.union([
  z.object({ task: wireTask }),
  z.object({
    statusUpdate: z.object({
      taskId: z.string(),
      contextId: z.string(),
      status,
      metadata: z.object({
        ...position,
        [TOOL_APPROVAL_EXTENSION]: z.object({ activity: z.optional(toolCallEventSchema), cost }).optional(),
      }),
    }),
  }),
  z.object({
    artifactUpdate: z.object({
      taskId: z.string(),
      contextId: z.string(),
      artifact,
      append: z.boolean().default(false),
      metadata: z.object({ ...position, [TOOL_APPROVAL_EXTENSION]: z.object({ cost }).optional() }),
    }),
  }),
]);

/** A task as a client sees it. */
export interface TaskView {
  taskId: string;
  sessionId: string;
  seq: number;
  /** E.g. `INPUT_REQUIRED`. */
  state: string;
  pending: PendingAction[];
  /** The text of the status message. */
  statusText: string;
  /** The model's text so far. */
  text: string;
  /** The messages of the task, each as one line with role and text. */
  history: string[];
  overview: z.infer<typeof taskOverviewSchema>;
}

/** One event of a stream. */
export interface StreamEvent {
  taskId: string;
  sessionId: string;
  seq: number;
  type: 'task' | 'status' | 'text';
  /** Undefined for a text event. */
  state: string | undefined;
  pending: PendingAction[];
  activity: ToolCallEvent | undefined;
  /** The cost of a turn or a summary. Only the event that ends it has a cost. */
  cost: EventCost | undefined;
  text: string;
  /** The data field of the event, as text from the wire. */
  data: string;
}

export function readTask(raw: unknown): TaskView {
  return viewOf(wireTask.parse(raw));
}

function viewOf(task: z.infer<typeof wireTask>): TaskView {
  return {
    taskId: task.id,
    sessionId: task.contextId,
    seq: task.metadata[RESUMABLE_STREAM_EXTENSION].seq,
    state: task.status.state,
    pending: pendingIn(task.status.message),
    statusText: wordsOf(task.status.message),
    text: task.artifacts.map((it) => wordsOf(it)).join('\n\n'),
    history: task.history.map((it) => `${it.role === 'ROLE_USER' ? 'user' : 'agent'}: ${wordsOf(it)}`),
    overview: task.metadata[TOOL_APPROVAL_EXTENSION],
  };
}

/** @param raw the `result` of the answer in an SSE frame */
export function readEvent(raw: unknown, data: string): StreamEvent {
  const event = wireEvent.parse(raw);
  if ('task' in event) {
    const { taskId, sessionId, seq, state, pending, text } = viewOf(event.task);
    const none = { activity: undefined, cost: undefined };
    return { taskId, sessionId, seq, type: 'task', state, pending, ...none, text, data };
  }
  if ('statusUpdate' in event) {
    const { taskId, contextId, status: now, metadata } = event.statusUpdate;
    return {
      taskId,
      sessionId: contextId,
      seq: metadata[RESUMABLE_STREAM_EXTENSION].seq,
      type: 'status',
      state: now.state,
      pending: pendingIn(now.message),
      activity: metadata[TOOL_APPROVAL_EXTENSION]?.activity,
      cost: metadata[TOOL_APPROVAL_EXTENSION]?.cost,
      text: wordsOf(now.message),
      data,
    };
  }
  const { taskId, contextId, artifact: chunk, metadata } = event.artifactUpdate;
  return {
    taskId,
    sessionId: contextId,
    seq: metadata[RESUMABLE_STREAM_EXTENSION].seq,
    type: 'text',
    state: undefined,
    pending: [],
    activity: undefined,
    cost: metadata[TOOL_APPROVAL_EXTENSION]?.cost,
    text: wordsOf(chunk),
    data,
  };
}

/** The activities of calls, in order. */
export function activitiesOf(events: readonly StreamEvent[]): ToolCallEvent[] {
  return events.flatMap((event) => event.activity ?? []);
}

function pendingIn(said: z.infer<typeof message> | undefined): PendingAction[] {
  return (said?.parts ?? []).flatMap(
    ({ data }) => pendingActionsPartSchema.safeParse(data).data?.pending ?? [],
  );
}

function wordsOf(said: { parts: { text?: string | undefined }[] } | undefined): string {
  return (said?.parts ?? []).map(({ text }) => text ?? '').join('');
}

/** Counts the tool calls that started. */
export function startsIn(events: readonly StreamEvent[]): number {
  return activitiesOf(events).filter(({ type }) => type === 'tool.started').length;
}

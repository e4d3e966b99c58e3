/** Converts an A2A event to a task event of MCP (SEP-2694, a draft). Pure. */
import { StreamResponse, TaskState } from '@a2a-js/sdk';
import { z } from 'zod';
import { TERMINAL_TASK_STATE_CODES } from '../../../shared/protocol/task-state-codes.ts';

/** `params` of `notifications/tasks/event`. */
export interface McpTaskEvent {
  seq: number;
  taskId: string;
  type: string;
  payload: Record<string, unknown>;
  _meta: Record<string, unknown>;
}

/** "Implementation-defined event types MUST use a vendor-specific prefix." */
const PREFIX = 'mcp-a2a-bridge.a2a';

/** "Task events related to a task MUST include" this metadata. */
const RELATED_TASK = 'io.modelcontextprotocol/related-task';

const encoded = z.object({
  statusUpdate: z.looseObject({ status: z.looseObject({}) }).optional(),
  artifactUpdate: z.looseObject({}).optional(),
});

/**
 * Returns the task event. Its payload is the event of A2A 1.0 as JSON. Returns undefined for a task or a message,
 * because these are no events.
 */
export function toMcpTaskEvent(
  event: StreamResponse,
  { seq, taskId }: { seq: number; taskId: string },
): McpTaskEvent | undefined {
  const { statusUpdate, artifactUpdate } = encoded.parse(StreamResponse.toJSON(event));
  const base = { seq, taskId, _meta: { [RELATED_TASK]: { taskId } } };
  if (artifactUpdate !== undefined)
    return { ...base, type: `${PREFIX}.artifact-update`, payload: artifactUpdate };
  if (statusUpdate === undefined) return undefined;
  const payload = isWaitingEvent(event) ? withoutQuestion(statusUpdate) : statusUpdate;
  return { ...base, type: `${PREFIX}.status-update`, payload };
}

/**
 * Removes the message of a waiting task, because it contains the codes for decisions. D2, D5: a client gets these codes
 * only together with the whole question, from the forms of `tasks/get` or from the tools.
 */
function withoutQuestion(update: { status: Record<string, unknown> }): Record<string, unknown> {
  const { message: _question, ...status } = update.status;
  return { ...update, status };
}

const WAITING: ReadonlySet<TaskState> = new Set([
  TaskState.TASK_STATE_INPUT_REQUIRED,
  TaskState.TASK_STATE_AUTH_REQUIRED,
]);

function isWaitingEvent(event: StreamResponse): boolean {
  return WAITING.has(stateIn(event));
}

/** True if no event follows this one. */
export function isLastTaskEvent(event: StreamResponse): boolean {
  return TERMINAL_TASK_STATE_CODES.has(stateIn(event));
}

function stateIn({ payload }: StreamResponse): TaskState {
  return (
    (payload?.$case === 'statusUpdate' ? payload.value.status?.state : undefined) ??
    TaskState.TASK_STATE_UNSPECIFIED
  );
}

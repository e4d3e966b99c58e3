/** Sample events and appends for journal tests, as the executor could write them. */
import type { AppendRequest, CommandKey } from '../../a2a-server/journal/journal.ts';
import { taskStateAfter } from '../../a2a-server/task/fold.ts';
import type { TaskEvent } from '../../a2a-server/task/events.ts';
import type { StateName } from '../../a2a-server/task/snapshot.ts';

export const created = (sessionId: string, principal = 'alice'): TaskEvent => ({
  type: 'task.created',
  sessionId,
  principal,
  settings: {},
});

export const message = (text: string, messageId = 'message'): TaskEvent => ({
  type: 'message.received',
  message: { messageId, parts: [{ type: 'text', text }] },
  channel: 'test',
});

export const delta = (text: string): TaskEvent => ({ type: 'text.delta', turn: 1, text });
export const toolStarted = (toolId: string): TaskEvent => ({
  type: 'tool.started',
  callId: 'call',
  tool: 'wait',
  title: 'Wait',
  toolId,
});
export const working: TaskEvent = { type: 'task.working' };
export const inputRequired: TaskEvent = { type: 'input.required', pending: [] };
/** The task waits for a reply until this time (RFC 3339). */
export const inputRequiredUntil = (expiresAt: string | null): TaskEvent => ({
  type: 'input.required',
  pending: [],
  expiresAt,
});
export const completed: TaskEvent = { type: 'task.completed' };

/** One event for each way a task can end. */
export const FINAL_EVENTS: readonly TaskEvent[] = [
  completed,
  { type: 'task.failed', message: 'the model refused' },
  { type: 'task.canceled', reason: 'asked to', by: { principal: 'alice', channel: 'test' } },
  { type: 'task.rejected', message: 'no such model' },
];

export interface Beginning {
  sessionId?: string;
  principal?: string;
  command?: CommandKey;
  events?: readonly TaskEvent[];
}

/** The append that creates a task, by default in its own session. */
export function beginning(
  taskId: string,
  { sessionId, principal, command, events }: Beginning = {},
): AppendRequest {
  const all = [
    created(sessionId ?? `session of ${taskId}`, principal),
    ...(events ?? [message(`do ${taskId}`)]),
  ];
  return {
    taskId,
    expectedSeq: 0,
    events: all,
    state: taskStateAfter(all) ?? 'submitted',
    ...(command && { command }),
  };
}

/** The next append after `expectedSeq`. Set `state` if the events do not change it. */
export function continuing(
  taskId: string,
  expectedSeq: number,
  events: readonly TaskEvent[],
  state: StateName = 'submitted',
): AppendRequest {
  return { taskId, expectedSeq, events, state: taskStateAfter(events) ?? state };
}

export const commandKey = (messageId: string, bodyHash = 'hash', principal = 'alice'): CommandKey => ({
  principal,
  messageId,
  bodyHash,
});

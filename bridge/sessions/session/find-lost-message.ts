/**
 * Searches an agent's tasks for a message whose response was lost. Some agents would do the work twice if they received
 * the message again.
 */
import type { Message, Task } from '@a2a-js/sdk';
import type { A2aConnection } from '../../agents/connection.ts';
import { taskAsStreamResponse } from '../../agents/task-as-stream-response.ts';

/** The maximum number of tasks to search, newest first. The message is recent, so this is enough. */
const MAX_SEARCHED_TASKS = 100;
/** The type of the last activity of a call that waits for a decision or has not started. */
const REQUESTED = 'tool.requested';

/** Returns the task that contains the message. Returns undefined if no task does, or if the agent cannot list tasks. */
export async function findTaskByMessage(
  connection: A2aConnection,
  message: Message,
): Promise<Task | undefined> {
  // If the message names its task, no list is needed. That helps with agents that cannot list tasks.
  if (message.taskId !== '') {
    const task = await connection.task(message.taskId);
    return hasMessage(task, message) || hasDecision(task, message, connection) ? task : undefined;
  }
  const filter = message.contextId === '' ? {} : { sessionId: message.contextId };
  const listed = await connection.list(filter, MAX_SEARCHED_TASKS);
  const found = listed?.tasks.find(
    (task) => hasMessage(task, message) || hasMessageIdAsSessionId(task, message),
  );
  return found === undefined ? undefined : connection.task(found.id);
}

function hasMessage({ history }: Task, { messageId }: Message): boolean {
  return history.some((each) => each.messageId === messageId);
}

/** Returns true if every call that the message decides has continued. The agent then has the decision. */
function hasDecision(task: Task, { parts }: Message, { dialect }: A2aConnection): boolean {
  const decided = dialect.hazards.decidedBy?.(parts) ?? [];
  const { observations } = dialect.read(taskAsStreamResponse(task));
  const told = new Map<string, string>();
  for (const each of observations)
    if (each.type === 'activity') told.set(each.activity.callId, each.activity.type);
  return decided.length > 0 && decided.every((callId) => (told.get(callId) ?? REQUESTED) !== REQUESTED);
}

/**
 * Returns true if the message started this session. With some dialects, the bridge uses the id of the first message
 * as the id of the session.
 */
function hasMessageIdAsSessionId({ contextId }: Task, { messageId }: Message): boolean {
  return contextId === messageId;
}

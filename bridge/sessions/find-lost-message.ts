/** Searches for a message whose answer was lost. The agent may do the work twice if it gets the message again. */
import type { Message, Task } from '@a2a-js/sdk';
import type { A2aConnection } from '../agents/connection.ts';
import { asStreamResponse } from '../agents/task-event.ts';

/** How many tasks to search, newest first. The message is recent, so this is enough. */
const LOOKED_THROUGH = 100;
/** The last activity of a call that waits or has not started. */
const ASKS = 'tool.requested';

/**
 * Returns the task that has the message in its history. Undefined if there is none, or if the agent cannot list tasks.
 */
export async function findByMessage(connection: A2aConnection, message: Message): Promise<Task | undefined> {
  // For a message with a task id, no list is needed. Some agents cannot list tasks.
  if (message.taskId !== '') {
    const task = await connection.task(message.taskId);
    return holds(task, message) || tookDecision(task, message, connection) ? task : undefined;
  }
  const filter = message.contextId === '' ? {} : { sessionId: message.contextId };
  const listed = await connection.list(filter, LOOKED_THROUGH);
  const found = listed?.tasks.find((task) => holds(task, message) || namedAfter(task, message));
  return found === undefined ? undefined : connection.task(found.id);
}

function holds({ history }: Task, { messageId }: Message): boolean {
  return history.some((each) => each.messageId === messageId);
}

/** Every call that the message decides has continued. So the agent has the decision. */
function tookDecision(task: Task, { parts }: Message, { dialect }: A2aConnection): boolean {
  const decided = dialect.hazards.decidedBy?.(parts) ?? [];
  const { observations } = dialect.read(asStreamResponse(task));
  const told = new Map<string, string>();
  for (const each of observations)
    if (each.type === 'activity') told.set(each.activity.callId, each.activity.type);
  return decided.length > 0 && decided.every((callId) => (told.get(callId) ?? ASKS) !== ASKS);
}

/** The client chose the session's id: it is the id of the first message. */
function namedAfter({ contextId }: Task, { messageId }: Message): boolean {
  return contextId === messageId;
}

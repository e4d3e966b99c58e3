/** Looking for a message whose answer was lost, at an agent that may do the work twice if it is sent again. */
import type { Message, Task } from '@a2a-js/sdk';
import type { Connection } from '../agents/connection.ts';
import { asEvent } from '../agents/task-event.ts';

/** Tasks looked through, newest first: the message is recent. */
const LOOKED_THROUGH = 100;
/** What is last heard of a call that waits, or is about to. */
const ASKS = 'tool.requested';

/** The task that has the message in its history; undefined when there is none, or the agent cannot say. */
export async function findByMessage(connection: Connection, message: Message): Promise<Task | undefined> {
  // Whoever answers a task's question or decides its call can look at that task, also where tasks cannot be listed.
  if (message.taskId !== '') {
    const task = await connection.task(message.taskId);
    return holds(task, message) || tookDecision(task, message, connection) ? task : undefined;
  }
  const filter = message.contextId === '' ? {} : { sessionId: message.contextId };
  const tasks = (await connection.list(filter, LOOKED_THROUGH)) ?? [];
  const found = tasks.find((task) => holds(task, message) || namedAfter(task, message));
  return found === undefined ? undefined : connection.task(found.id);
}

function holds({ history }: Task, { messageId }: Message): boolean {
  return history.some((each) => each.messageId === messageId);
}

/** Every call that the message decides has gone on: nobody else was asked about them. */
function tookDecision(task: Task, { parts }: Message, { dialect }: Connection): boolean {
  const decided = dialect.hazards.decidedBy?.(parts) ?? [];
  const { observations } = dialect.read(asEvent(task));
  const told = new Map<string, string>();
  for (const each of observations)
    if (each.type === 'activity') told.set(each.activity.callId, each.activity.type);
  return decided.length > 0 && decided.every((callId) => (told.get(callId) ?? ASKS) !== ASKS);
}

/** The client has named the session after its first message. */
function namedAfter({ contextId }: Task, { messageId }: Message): boolean {
  return contextId === messageId;
}

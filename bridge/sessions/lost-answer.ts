/** Looking for a message whose answer was lost, at an agent that may do the work twice if it is sent again. */
import type { Message, Task } from '@a2a-js/sdk';
import type { Connection } from '../agents/connection.ts';

/** Tasks looked through, newest first: the message is recent. */
const LOOKED_THROUGH = 100;

/** The task that has the message in its history; undefined when there is none, or the agent cannot say. */
export async function findByMessage(connection: Connection, message: Message): Promise<Task | undefined> {
  const filter = message.contextId === '' ? {} : { sessionId: message.contextId };
  const tasks = (await connection.list(filter, LOOKED_THROUGH)) ?? [];
  const found = tasks.find((task) => task.history.some((each) => each.messageId === message.messageId));
  return found === undefined ? undefined : connection.task(found.id);
}

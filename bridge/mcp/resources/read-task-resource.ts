/** Reads a part of a task: from the session in memory, or from its agent. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { BridgeContext } from '../bridge-context.ts';
import type { Session } from '../../sessions/session/session.ts';
import { hasEnded, viewOfWholeTask } from '../../sessions/session/observed-task.ts';
import { taskResourceContent, type TaskWithMessages } from './task-content.ts';
import type { TaskAddress } from '../../sessions/task-uri.ts';

/**
 * Returns the text of one resource of a task. If a client reads the artifacts of an ended task, the result counts as
 * collected.
 * @throws ProductError UNKNOWN_AGENT, UNKNOWN_SESSION, UNKNOWN_TASK, or an error of the connection to the agent
 */
export async function readTaskResource(
  bridge: BridgeContext,
  { agent, sessionId, taskId, part }: TaskAddress,
): Promise<string> {
  const session = await bridge.sessions.find(sessionId, { agent });
  await session.refresh();
  const text = taskResourceContent(part, await readTask(session, taskId, part === 'transcript'));
  const { view } = session;
  // A client that reads the complete output has collected the result. So the inbox no longer announces it.
  if (part === 'artifacts' && view?.taskId === taskId && hasEnded(view)) bridge.delegations.collect(session);
  return text;
}

/**
 * Returns the task. The session in memory contains only its newest task, without the history. Everything else is
 * requested from the agent.
 */
async function readTask(session: Session, taskId: string, withHistory: boolean): Promise<TaskWithMessages> {
  const { view, agent } = session;
  const atHand = view?.taskId === taskId ? view : undefined;
  if (atHand !== undefined && !withHistory) return { agent: agent.name, view: atHand, history: [] };
  const { history, told } = await agent.ask(async (connection) => {
    const task = await connection.task(taskId);
    return { history: task.history, told: atHand ?? viewOfWholeTask(task, connection.dialect) };
  });
  if (told === undefined || (atHand === undefined && told.sessionId !== session.id))
    throw new ProductError('UNKNOWN_TASK', `Session "${session.id}" has no task "${taskId}".`);
  return { agent: agent.name, view: told, history };
}

/** Finding the task of a resource, at hand or at its agent. */
import type { Message, Task } from '@a2a-js/sdk';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { asEvent } from '../../agents/task-event.ts';
import type { Bridge } from '../bridge-context.ts';
import type { Session } from '../../sessions/session.ts';
import { fold, hasEnded } from '../../sessions/task-view.ts';
import { contentOf, type ReadTask } from './task-content.ts';
import type { TaskAddress } from '../../sessions/task-uri.ts';

/** @throws ProductError UNKNOWN_SESSION, UNKNOWN_TASK, or why the agent cannot be asked */
export async function readTask(bridge: Bridge, { sessionId, taskId, part }: TaskAddress): Promise<string> {
  const session = await bridge.sessions.find(sessionId);
  await session.refresh();
  const text = contentOf(part, await found(session, taskId, part === 'transcript'));
  const { view } = session;
  // Whoever reads the whole result has it: it is not announced any more.
  if (part === 'artifacts' && view?.taskId === taskId && hasEnded(view)) bridge.delegations.collect(session);
  return text;
}

/** The session's newest task is at hand; its history, and any earlier task, is the agent's to tell. */
async function found(session: Session, taskId: string, withHistory: boolean): Promise<ReadTask> {
  const { view, agent } = session;
  const atHand = view?.taskId === taskId ? view : undefined;
  if (atHand !== undefined && !withHistory) return { agent: agent.name, view: atHand, history: [] };
  const { task, told } = await agent.ask(async (connection) => {
    const answer: Task = await connection.task(taskId);
    return { task: answer, told: fold(undefined, connection.dialect.read(asEvent(answer))) };
  });
  const history: readonly Message[] = task.history;
  if (atHand !== undefined) return { agent: agent.name, view: atHand, history };
  if (told === undefined || told.sessionId !== session.id)
    throw new ProductError('UNKNOWN_TASK', `Session "${session.id}" has no task "${taskId}".`);
  return { agent: agent.name, view: told, history };
}

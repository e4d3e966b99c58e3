/**
 * Asks an agent to cancel a task. A3: a cancel and the end of the task may race. If the task ended first, the result is
 * `ended-before`.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import { taskAsStreamResponse } from '../agents/task-as-stream-response.ts';
import type { CancelDetails } from '../agents/connection.ts';
import { hasEnded } from './session/observed-task.ts';
import type { Session } from './session/session.ts';
import { waitForSession } from './wait-for-session.ts';

/** The maximum time to wait for the end of a task whose agent has accepted the cancel, in milliseconds. */
const MAX_WAIT_FOR_END_MS = 5_000;

/**
 * The outcome of a cancel.
 *
 * - `cancelling`: the agent has accepted the cancel, but the task has not ended.
 * - `cancelled-when-known`: the message is still being sent. When the agent sends the task id, the bridge cancels the
 *   task.
 * - `withdrawn`: the message has not reached the agent, and is not sent.
 * - `may-have-arrived`: the bridge does not know whether the message has reached the agent.
 * - `unknown-to-agent`: the agent has no such task.
 */
export type CancelOutcome =
  | 'cancelled'
  | 'cancelling'
  | 'cancelled-when-known'
  | 'withdrawn'
  | 'may-have-arrived'
  | 'ended-before'
  | 'unknown-to-agent';

/** @throws ProductError if the agent cannot be reached */
export async function cancelSessionTask(
  session: Session,
  taskId: string,
  by: CancelDetails,
): Promise<'cancelled' | 'cancelling' | 'ended-before'> {
  try {
    await session.agent.ask(async (connection) => {
      session.applyEvent(taskAsStreamResponse(await connection.cancel(taskId, by)), connection);
    });
    return (await endsSoon(session)) ? 'cancelled' : 'cancelling';
  } catch (error) {
    if (!(error instanceof ProductError) || error.reason !== 'TASK_ENDED') throw error;
    // The stream might not have delivered the end of the task yet. So the session reads the task.
    await session.look();
    return 'ended-before';
  }
}

/**
 * Waits for the end of a cancelled task. Some agents answer a cancel before the task has ended, e.g. those of the
 * JavaScript SDK 0.2. Others, such as those of Pydantic AI, do not stop their work at all.
 */
async function endsSoon(session: Session): Promise<boolean> {
  const ended = (): boolean => session.view === undefined || hasEnded(session.view);
  if (ended()) return true;
  const { signal } = new AbortController();
  await waitForSession({ session, timeout: MAX_WAIT_FOR_END_MS, signal });
  // The cancel has succeeded, so a failure to read the task changes nothing.
  if (!ended()) await session.look().catch(() => undefined);
  return ended();
}

/**
 * Asks an agent to cancel a task. A3: a cancel and the end of the task may race. If the task ended first, the result is
 * `ended-before`.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import { taskAsStreamResponse } from '../agents/task-as-stream-response.ts';
import type { CancelDetails } from '../agents/connection.ts';
import type { Session } from './session/session.ts';

/**
 * The outcome of a cancel.
 *
 * - `cancelled-when-known`: the message is still being sent. When the agent sends the task id, the bridge cancels the
 *   task.
 * - `withdrawn`: the message has not reached the agent, and is not sent.
 * - `may-have-arrived`: the bridge does not know whether the message has reached the agent.
 * - `unknown-to-agent`: the agent has no such task.
 */
export type CancelOutcome =
  | 'cancelled'
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
): Promise<'cancelled' | 'ended-before'> {
  try {
    await session.agent.ask(async (connection) => {
      session.applyEvent(taskAsStreamResponse(await connection.cancel(taskId, by)), connection);
    });
    return 'cancelled';
  } catch (error) {
    if (!(error instanceof ProductError) || error.reason !== 'TASK_ENDED') throw error;
    // The stream might not have delivered the end of the task yet. So the session reads the task.
    await session.look();
    return 'ended-before';
  }
}

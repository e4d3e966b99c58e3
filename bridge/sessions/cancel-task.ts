/** Asking an agent to end a task. Cancel and completion may race; the one that lost learns which won (A3). */
import { ProductError } from '../../shared/runtime/errors.ts';
import { asEvent } from '../agents/task-event.ts';
import type { Session } from './session.ts';

/** `cancelled-when-known`: its message is on its way, and nobody can say yet what it will be a task of. */
export type CancelEnd = 'cancelled' | 'cancelled-when-known' | 'ended-before';

/** @throws ProductError when the agent cannot be asked */
export async function cancelTask(
  session: Session,
  taskId: string,
  reason: string,
): Promise<Exclude<CancelEnd, 'cancelled-when-known'>> {
  try {
    await session.agent.ask(async (connection) => {
      session.take(asEvent(await connection.cancel(taskId, reason)), connection);
    });
    return 'cancelled';
  } catch (error) {
    if (!(error instanceof ProductError) || error.reason !== 'TASK_ENDED') throw error;
    // The stream that says so may still be on its way.
    await session.look();
    return 'ended-before';
  }
}

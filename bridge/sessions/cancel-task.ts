/**
 * Asks an agent to cancel a task. A3: a cancel and the end of the task may race. If the task ended first, the result is
 * `ended-before`.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import { taskAsStreamResponse } from '../agents/task-as-stream-response.ts';
import type { CancelDetails } from '../agents/connection.ts';
import { hasEnded } from './session/observed-task.ts';
import type { Session } from './session/session.ts';
import { waitUntil } from './wait-for-session.ts';

/** The maximum time to wait for the end of a task whose agent has accepted the cancel, in milliseconds. */
const MAX_WAIT_FOR_END_MS = 5_000;
/** The interval at which the bridge fetches the cancelled task, in milliseconds. */
const POLL_MS = 500;

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

/**
 * Cancels the task, and waits a short time for its end.
 * @param signal aborts when the caller stops waiting. The agent still receives the cancel
 * @throws ProductError if the agent cannot be reached
 */
export async function cancelSessionTask(
  session: Session,
  taskId: string,
  { by, signal }: { by: CancelDetails; signal: AbortSignal | undefined },
): Promise<'cancelled' | 'cancelling' | 'ended-before'> {
  if ((await requestCancel(session, taskId, by)) === 'ended-before') return 'ended-before';
  await waitForEnd(session, signal);
  return isOver(session) ? 'cancelled' : 'cancelling';
}

/**
 * Sends the cancel to the agent.
 * @throws ProductError if the agent cannot be reached
 */
export async function requestCancel(
  session: Session,
  taskId: string,
  by: CancelDetails,
): Promise<'accepted' | 'ended-before'> {
  try {
    await session.agent.ask(async (connection) => {
      session.applyEvent(taskAsStreamResponse(await connection.cancel(taskId, by)), connection);
    });
    return 'accepted';
  } catch (error) {
    if (!(error instanceof ProductError) || error.reason !== 'TASK_ENDED') throw error;
    // The stream might not have delivered the end of the task yet. So the session reads the task.
    await session.fetchTask();
    return 'ended-before';
  }
}

/**
 * Waits for the end of a cancelled task. Some agents answer a cancel before the task has ended, e.g. those of the
 * JavaScript SDK 0.2. Others, such as those of Pydantic AI, do not stop their work at all. Never rejects, because the
 * agent has accepted the cancel.
 */
async function waitForEnd(session: Session, signal: AbortSignal | undefined): Promise<void> {
  // A task that waits for a person usually has no open stream, and an agent without streams sends nothing. So the
  // session fetches the task until the limit.
  const looks = setInterval(() => void session.refreshState().catch(() => undefined), POLL_MS);
  try {
    await waitUntil(session, () => isOver(session), { timeoutMs: MAX_WAIT_FOR_END_MS, signal });
  } finally {
    clearInterval(looks);
  }
}

function isOver({ view }: Session): boolean {
  return view === undefined || hasEnded(view);
}

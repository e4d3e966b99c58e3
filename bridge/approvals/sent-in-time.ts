/**
 * Limits how long a caller waits until an agent confirms a message. If the agent cannot be reached, the bridge sends the
 * message again without a limit, but each tool call must return.
 */
import { unlessAborted } from '../../shared/runtime/abort.ts';
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import { withTimeout } from '../agents/timeout.ts';
import type { Session } from '../sessions/session/session.ts';

const UNCONFIRMED = 'The agent has not confirmed this decision yet.';

/**
 * Returns the note for a decision that the agent has not confirmed. Until the agent confirms it, the action may still be
 * shown as pending. If an attempt to send the decision failed, the note says why.
 */
export function unconfirmedDecisionNote({ sendingProblem }: Pick<Session, 'sendingProblem'>): string {
  const why = sendingProblem === undefined ? '' : ` The last attempt failed: ${sendingProblem}`;
  return `${UNCONFIRMED}${why} The bridge sends it again. Look with wait_for_task before you decide again.`;
}

export function isUnconfirmedDecisionNote(note: string): boolean {
  return note.startsWith(UNCONFIRMED);
}

/**
 * Returns the result of `sending`, or `unconfirmed` after the timeout or an abort of the signal. After that, sending
 * continues.
 * @throws the error of `sending`
 */
export function sentInTime<Result>(
  sending: Promise<Result>,
  { timeout, signal }: { timeout: number; signal: AbortSignal },
): Promise<Result | 'unconfirmed'> {
  return withTimeout(timeout, unlessAborted(sending, signal)).catch((error: unknown) => {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError';
    if (isLate || signal.aborted) return 'unconfirmed';
    throw error;
  });
}

/**
 * Leaves a note in the session if the decision fails later. The reply to the tool call, which said "not confirmed yet",
 * was sent before. So the next reply about the session reports the failure.
 */
export function noteLateFailure(session: Pick<Session, 'leaveNotes'>, sending: Promise<unknown>): void {
  sending.catch((error: unknown) =>
    session.leaveNotes([`An earlier decision failed: ${errorMessageOf(error)}`]),
  );
}

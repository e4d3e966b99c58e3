/** Waits while a person decides on the agent's approval page. The agent reports the decision in the task's events. */
import type { Session } from '../sessions/session/session.ts';
import { waitUntil } from '../sessions/wait-for-session.ts';
import type { FormCandidate } from './form.ts';
import type { FormHistory } from './form-history.ts';

interface PageWait {
  session: Session;
  formHistory: FormHistory;
  timeout: number;
  signal: AbortSignal;
}

/** @returns true if at least one of the opened actions is decided; false after a timeout or an abort of the signal */
export async function waitForDecisionOnPage(
  { session, formHistory, timeout, signal }: PageWait,
  opened: readonly FormCandidate[],
): Promise<boolean> {
  const taskId = session.view?.taskId ?? '';
  const keys = new Set(opened.map(({ key }) => key));
  const decided = (): boolean => {
    if (session.view?.taskId !== taskId) return true;
    const open = formHistory.lastOffered(taskId, session.pendingInput).filter(({ key }) => keys.has(key));
    return open.length < keys.size;
  };
  const stopReading = session.watch();
  await waitUntil(session, decided, { timeoutMs: timeout, signal });
  stopReading();
  return decided();
}

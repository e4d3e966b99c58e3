/** `cancel`: ends a session's task, moving or parked. */
import { hasEnded } from '../../sessions/view.ts';
import { openDesk } from '../desk.ts';
import { EXIT_REFUSED } from '../exit-codes.ts';
import { sessionMeant } from '../meant.ts';
import type { CommonOptions, Run } from '../run.ts';

export interface CancelOptions extends CommonOptions {
  reason?: string;
}

/** @throws ProductError */
export async function cancel(run: Run<CancelOptions>, given: string): Promise<number> {
  const { options, terminal } = run;
  const desk = await openDesk(run);
  const session = await sessionMeant(desk.sessions, given);
  const end = await desk.delegations.cancel(session, options.reason ?? 'cancelled on the command line');
  await desk.close();
  const { id, view } = session;
  const state = view?.state ?? 'unknown';
  const before = end === 'ended-before';
  if (options.json === true)
    terminal.say(JSON.stringify({ sessionId: id, taskId: view?.taskId ?? null, state, cancelled: !before }));
  else if (before) terminal.complain(`The task had ended before (${state}).`);
  else if (end === 'cancelled-when-known' || view === undefined || !hasEnded(view))
    terminal.say('The agent has not confirmed it yet. The task is cancelled as soon as it does.');
  else terminal.say(`Cancelled: the task of session ${id} is ${state}.`);
  return before ? EXIT_REFUSED : 0;
}

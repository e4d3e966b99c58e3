/** The command `cancel`: cancels the task of a session, whether the task runs or waits. */
import { sessionProblem } from '../../sessions/session/session-state.ts';
import { hasEnded } from '../../sessions/session/observed-task.ts';
import type { CancelOutcome } from '../../sessions/cancel-task.ts';
import { EXIT_REFUSED } from '../terminal/exit-codes.ts';
import { resolveSession } from '../decisions/resolve-id.ts';
import type { CommandRun } from '../context/run-command.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { taskStateWord } from '../../../shared/text/task-state-word.ts';

interface CancelOptions {
  reason?: string;
}

/**
 * Cancels the task of a session, and prints the outcome.
 * @throws ProductError
 */
export async function cancelCommand(run: CommandRun<CancelOptions>, given: string): Promise<number> {
  const { options, terminal } = run;
  const context = await run.openSessions();
  const session = await resolveSession(context.sessions, given);
  const end = await context.delegations.cancel(session, options.reason ?? 'no reason was given');
  const { id, view, stateName: state } = session;
  const word = taskStateWord(state);
  const refused = end === 'ended-before' || end === 'unknown-to-agent' || end === 'may-have-arrived';
  const unconfirmed =
    'The agent has not confirmed the task yet. The bridge cancels the task as soon as the agent confirms it.';
  const texts: Record<CancelOutcome, string> = {
    'may-have-arrived':
      'Nothing was cancelled, because it is not known whether the agent has the task. Check the tasks of the agent.',
    'unknown-to-agent': `There was nothing to cancel: ${sessionProblem(session.state) ?? word}`,
    'ended-before': `The task had ended before (${word}).`,
    withdrawn: 'Withdrawn: the agent never had the task. Nothing of it has run.',
    cancelling:
      'The agent has accepted the cancel, but the task has not ended. It may go on to its end: not every agent can stop its work.',
    'cancelled-when-known': unconfirmed,
    cancelled:
      view !== undefined && hasEnded(view)
        ? `Cancelled: the task of session ${visibleLine(id)} is ${word}.`
        : unconfirmed,
  };
  terminal.json({ sessionId: id, taskId: view?.taskId ?? null, state, canceled: !refused });
  if (refused) terminal.complain(texts[end]);
  else terminal.explain(texts[end]);
  return refused ? EXIT_REFUSED : 0;
}

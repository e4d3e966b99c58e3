/** Prints the state of a session's task, with its output and pending decisions. */
import { visibleText } from '../../../shared/text/visible-text.ts';
import { agentOutputText } from '../../mcp/reports/session-report.ts';
import { sessionProblem } from '../../sessions/session/session-state.ts';
import type { Session } from '../../sessions/session/session.ts';
import { hasEnded } from '../../sessions/session/observed-task.ts';
import { actionText } from '../terminal/action-text.ts';
import { sessionWord } from '../terminal/short-ids.ts';
import { howToDecideText } from '../terminal/how-to-decide.ts';
import { EXIT_TASK_FAILED, EXIT_TASK_WAITS, EXIT_UNAVAILABLE } from '../terminal/exit-codes.ts';
import type { CommonCommandOptions, CommandRun } from './run-command.ts';

/** Prints the state of a session's task. Returns the exit code. */
export function printTaskOutcome(
  { options, terminal }: CommandRun<CommonCommandOptions>,
  session: Session,
): number {
  const { id, agent, view, stateName: state } = session;
  const problem = sessionProblem(session.state);
  const output = view === undefined ? '' : agentOutputText(view);
  const pending = view?.pending ?? [];
  if (options.json === true) {
    const taskId = view === undefined || view.taskId === '' ? null : view.taskId;
    terminal.say(
      JSON.stringify({
        sessionId: id,
        agent: agent.name,
        taskId,
        state,
        output,
        message: problem ?? view?.text ?? '',
        pending: pending.map(({ callId, title }) => ({ callId, title })),
      }),
    );
  } else {
    if (output !== '') terminal.say(visibleText(output));
    if (view !== undefined && state !== 'completed' && pending.length === 0 && view.text !== output)
      terminal.complain(visibleText(view.text));
    for (const action of pending) terminal.say(actionText(action, terminal));
    for (const action of pending) terminal.explain(howToDecideText(action));
    if (problem !== undefined)
      terminal.complain(`${problem} Cancel it with: mcp-a2a-bridge cancel ${sessionWord(id)}`);
    else if (pending.length === 0 && (view === undefined || !hasEnded(view)))
      terminal.explain(`It continues. Follow it with: mcp-a2a-bridge watch ${sessionWord(id)}`);
  }
  if (problem !== undefined) return EXIT_UNAVAILABLE;
  if (view !== undefined && hasEnded(view)) return state === 'completed' ? 0 : EXIT_TASK_FAILED;
  return pending.length > 0 ? EXIT_TASK_WAITS : 0;
}

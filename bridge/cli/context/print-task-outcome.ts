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
import type { Terminal } from '../terminal/terminal.ts';

/** Prints the state of a session's task. Returns the exit code. */
export function printTaskOutcome(terminal: Terminal, session: Session): number {
  terminal.json(jsonOutcome(session));
  printText(session, terminal);
  const { view, stateName } = session;
  if (sessionProblem(session.state) !== undefined) return EXIT_UNAVAILABLE;
  if (view !== undefined && hasEnded(view)) return stateName === 'completed' ? 0 : EXIT_TASK_FAILED;
  return view !== undefined && view.pending.length > 0 ? EXIT_TASK_WAITS : 0;
}

function jsonOutcome({ id, agent, view, state, stateName }: Session): object {
  return {
    sessionId: id,
    agent: agent.name,
    taskId: view?.taskId || null,
    state: stateName,
    output: view === undefined ? '' : agentOutputText(view),
    message: sessionProblem(state) ?? view?.text ?? '',
    pending: view?.pending.map(({ callId, title }) => ({ callId, title })) ?? [],
  };
}

function printText({ id, view, state, stateName }: Session, terminal: Terminal): void {
  const problem = sessionProblem(state);
  const pending = view?.pending ?? [];
  if (view !== undefined) {
    const output = agentOutputText(view);
    if (output !== '') terminal.say(visibleText(output));
    if (stateName !== 'completed' && pending.length === 0 && view.text !== output)
      terminal.complain(visibleText(view.text));
  }
  for (const action of pending) terminal.say(actionText(action, terminal));
  for (const action of pending) terminal.explain(howToDecideText(action));
  if (problem !== undefined)
    terminal.complain(`${problem} Cancel it with: mcp-a2a-bridge cancel ${sessionWord(id)}`);
  else if (pending.length === 0 && (view === undefined || !hasEnded(view)))
    terminal.explain(`It continues. Follow it with: mcp-a2a-bridge watch ${sessionWord(id)}`);
}

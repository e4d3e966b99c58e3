/** The command `show`: prints one pending action, or all pending actions of a session, in full. It decides nothing. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { TaskCosts } from '../../../shared/protocol/cost-report.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import type { PlainTextQuestion } from '../../dialects/observation.ts';
import { costLine } from '../../mcp/reports/cost-text.ts';
import { pendingReport } from '../../mcp/reports/session-report.ts';
import { toWholePendingResult } from '../../mcp/reports/session-result.ts';
import { sessionProblem } from '../../sessions/session/session-state.ts';
import type { Session } from '../../sessions/session/session.ts';
import { turnCostTable } from '../terminal/cost-tables.ts';
import { actionText } from '../terminal/action-text.ts';
import { escapeHiddenInLines, type Terminal } from '../terminal/terminal.ts';
import { sessionWord } from '../terminal/short-ids.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { quotedRows } from '../terminal/rows.ts';
import { howToAnswerText, howToDecideText } from '../terminal/how-to-decide.ts';
import { hasEnded } from '../../sessions/session/observed-task.ts';
import { notDoneText } from '../../../shared/protocol/not-done-text.ts';
import { taskStateWord } from '../../../shared/text/task-state-word.ts';
import { hasIdPrefix } from '../../sessions/id-prefix.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import { resolveSession } from '../decisions/resolve-id.ts';
import type { CommandRun } from '../context/run-command.ts';
import { findSessionWithCode, waitingSessions } from '../decisions/waiting-code.ts';

interface ShowOptions {
  turns?: boolean;
}

/** What the command shows: the pending actions or the question, or the state of a session in which nothing waits. */
interface ShownSession {
  session: Session;
  actions: readonly PendingAction[];
  question: PlainTextQuestion | null;
}

/**
 * Prints the pending actions or the question, or the state of a session in which nothing waits.
 * @param given the code of an action, or the id of a session or a call, or a unique prefix of it
 * @throws ProductError UNKNOWN_SESSION, UNKNOWN_CALL
 */
export async function showCommand(run: CommandRun<ShowOptions>, given: string): Promise<void> {
  const { options, terminal } = run;
  const context = await run.openSessions();
  const { sessions } = context;
  const shown =
    (await findByActionCode(sessions, given)) ??
    (await findByCallId(sessions, given)) ??
    (await findBySessionId(sessions, given));
  const turns = options.turns === true ? await turnCosts(shown.session) : undefined;
  terminal.json(jsonOf(shown, turns));
  // A pager would break a long line into rows without a mark, which could look like the program's own text.
  print(shown, turns, { ...terminal, width: terminal.pagerWidth });
}

function jsonOf({ session, actions, question }: ShownSession, turns: TaskCosts | null | undefined): object {
  const { id, agent, view } = session;
  return {
    sessionId: id,
    agent: agent.name,
    pending: actions.map((action) => toWholePendingResult(pendingReport(action))),
    question: question && { callId: question.id, shown: question.shown, text: question.text },
    cost: view?.cost ?? null,
    ...(turns !== undefined && { turns: turns?.requests ?? null }),
  };
}

function print(
  { session, actions, question }: ShownSession,
  turns: TaskCosts | null | undefined,
  terminal: Terminal,
): void {
  const { id, agent, state, view } = session;
  const { paint, width } = terminal;
  terminal.explain(paint('bold', `Session ${visibleLine(id)} with ${agent.name}`));
  for (const action of actions) {
    terminal.say(`\n${actionText(action, terminal)}`);
    terminal.explain(paint('gray', howToDecideText(action)));
  }
  if (question !== null) {
    terminal.say(`\nIt asks:\n${quotedRows(question.text, width)}`);
    terminal.explain(paint('gray', howToAnswerText(question)));
  }
  if (actions.length === 0 && question === null)
    terminal.explain(escapeHiddenInLines(sessionProblem(state) ?? nothingWaitsText(session)));
  const costs = view?.cost ? costLine(view.cost) : '';
  if (costs !== '') terminal.say(`\n${costs}`);
  if (turns === null) terminal.complain(`Agent "${agent.name}" does not report the cost of each turn.`);
  else if (turns !== undefined) terminal.say(`\n${turnCostTable(turns, width)}`);
}

/** Returns the state of a session without a pending action or a question, and the command that shows its result. */
function nothingWaitsText({ id, view, stateName: state }: Session): string {
  const missing = notDoneText(state, view?.calls ?? []);
  const reads = view !== undefined && hasEnded(view) ? 'See its result' : 'Follow it';
  return `Nothing waits for a decision. The task is ${taskStateWord(state)}${missing === '' ? '' : `, ${missing}`}. ${reads} with: mcp-a2a-bridge watch ${sessionWord(id)}`;
}

/** Returns the cost of each turn. Returns null if the agent does not report costs, or does not know the task yet. */
async function turnCosts({ agent, view }: Session): Promise<TaskCosts | null> {
  const taskId = view?.taskId ?? '';
  return taskId === '' ? null : agent.ask((connection) => connection.taskCosts(taskId));
}

async function findByActionCode(sessions: Sessions, given: string): Promise<ShownSession | undefined> {
  const found = await findSessionWithCode(sessions, given);
  if (found === undefined) return undefined;
  const { session, code } = found;
  const { pending, question } = session.pendingInput;
  return {
    session,
    actions: pending.filter(({ shown }) => shown === code),
    question: question?.shown === code ? question : null,
  };
}

async function findBySessionId(sessions: Sessions, given: string): Promise<ShownSession> {
  const session = await resolveSession(sessions, given);
  await session.refresh();
  const { view } = session;
  return { session, actions: view?.pending ?? [], question: view?.question ?? null };
}

/**
 * Finds the session whose waiting call has this id or prefix. Returns undefined if no call matches, or if the id of a
 * session has this prefix.
 * @throws ProductError UNKNOWN_CALL if several calls match
 */
async function findByCallId(sessions: Sessions, given: string): Promise<ShownSession | undefined> {
  const { sessions: named } = await sessions.withPrefix(given);
  if (named.length > 0) return undefined;
  const found: ShownSession[] = [];
  for await (const session of waitingSessions(sessions, 'callIds', (callId) => hasIdPrefix(callId, given)))
    for (const action of session.view?.pending ?? [])
      if (hasIdPrefix(action.callId, given)) found.push({ session, actions: [action], question: null });
  if (found.length < 2) return found[0];
  throw new ProductError(
    'UNKNOWN_CALL',
    `Several actions begin with "${given}". Type more of the one you mean.`,
  );
}

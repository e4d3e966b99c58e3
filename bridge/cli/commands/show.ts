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
import { turnCostTable } from '../terminal/turn-cost-table.ts';
import { actionText } from '../terminal/action-text.ts';
import { escapeHiddenInLines } from '../terminal/terminal.ts';
import { commandWord } from '../terminal/command-word.ts';
import { sessionWord } from '../terminal/short-ids.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { quotedRows } from '../terminal/quoted-rows.ts';
import { howToDecideText } from '../terminal/how-to-decide.ts';
import { type CommandSessions, openCommandSessions } from '../context/command-sessions.ts';
import { hasEnded } from '../../sessions/session/observed-task.ts';
import { notDoneText } from '../../../shared/protocol/not-done-text.ts';
import { taskStateWord } from '../../../shared/text/task-state-word.ts';
import { hasIdPrefix } from '../../sessions/id-prefix.ts';
import { mcpTaskIdOfSession, type ListedSession, WAITING_STATES } from '../../sessions/list-sessions.ts';
import { resolveSession } from '../decisions/resolve-id.ts';
import type { CommonCommandOptions, CommandRun } from '../context/run-command.ts';
import { findSessionWithCode } from '../decisions/waiting-code.ts';

interface ShowOptions extends CommonCommandOptions {
  turns?: boolean;
}

interface WaitingSession {
  session: Session;
  actions: readonly PendingAction[];
  question: PlainTextQuestion | null;
}

/**
 * Prints the pending actions or the question, or the state of a session in which nothing waits.
 * @param given the code of an action, or the id of a session or a call, or a unique prefix of it
 * @throws ProductError UNKNOWN_SESSION, UNKNOWN_CALL
 */
export async function showCommand(run: CommandRun<ShowOptions>, given: string): Promise<number> {
  const { options } = run;
  // A pager would break a long line into rows without a mark, which could look like the program's own text.
  const terminal = { ...run.terminal, width: run.terminal.pagerWidth };
  const context = await openCommandSessions(run);
  const { session, actions, question } =
    (await findByActionCode(context, given)) ??
    (await findByCallId(context, given)) ??
    (await findBySessionId(context, given));
  const { id, agent } = session;
  const cost = session.view?.cost ?? null;
  const turns = options.turns === true ? await turnCosts(session) : undefined;
  if (options.json === true)
    terminal.say(
      JSON.stringify({
        sessionId: id,
        agent: agent.name,
        pending: actions.map((action) => toWholePendingResult(pendingReport(action))),
        question:
          question === null ? null : { callId: question.id, shown: question.shown, text: question.text },
        cost,
        ...(turns !== undefined && { turns: turns?.requests ?? null }),
      }),
    );
  else {
    terminal.explain(terminal.paint('bold', `Session ${visibleLine(id)} with ${agent.name}`));
    for (const action of actions) {
      terminal.say(`\n${actionText(action, terminal)}`);
      terminal.explain(terminal.paint('gray', howToDecideText(action)));
    }
    if (question !== null) {
      terminal.say(`\nIt asks:\n${quotedRows(question.text, terminal.width)}`);
      terminal.explain(
        terminal.paint('gray', `Answer with: mcp-a2a-bridge answer ${commandWord(question.shown)} <words>`),
      );
    }
    if (actions.length === 0 && question === null)
      terminal.say(escapeHiddenInLines(sessionProblem(session.state) ?? nothingWaitsText(session)));
    const costs = cost === null ? '' : costLine(cost);
    if (costs !== '') terminal.say(`\n${costs}`);
    if (turns === null) terminal.complain(`Agent "${agent.name}" does not report the cost of each turn.`);
    else if (turns !== undefined) terminal.say(`\n${turnCostTable(turns, terminal.width)}`);
  }
  await context.close();
  return 0;
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

async function findByActionCode(
  { sessions }: CommandSessions,
  given: string,
): Promise<WaitingSession | undefined> {
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

async function findBySessionId({ sessions }: CommandSessions, given: string): Promise<WaitingSession> {
  const session = await resolveSession(sessions, given);
  await session.refresh();
  const { view } = session;
  return { session, actions: view?.pending ?? [], question: view?.question ?? null };
}

/**
 * Finds the session whose waiting call has this id or prefix. Returns undefined if there is none, or if a session has
 * the same prefix.
 * @throws ProductError UNKNOWN_CALL if several calls match
 */
async function findByCallId(
  { sessions }: CommandSessions,
  given: string,
): Promise<WaitingSession | undefined> {
  const { sessions: named } = await sessions.withPrefix(given);
  if (named.length > 0) return undefined;
  const { sessions: waiting } = await sessions.list({ states: WAITING_STATES });
  const found: WaitingSession[] = [];
  for (const listed of waiting.filter((each) => mayHaveCall(each, given))) {
    const session = await sessions.find(mcpTaskIdOfSession(listed));
    await session.refresh();
    for (const action of session.view?.pending ?? [])
      if (hasIdPrefix(action.callId, given)) found.push({ session, actions: [action], question: null });
  }
  if (found.length < 2) return found[0];
  throw new ProductError(
    'UNKNOWN_CALL',
    `Several actions begin with "${given}". Type more of the one you mean.`,
  );
}

function mayHaveCall({ callIds }: ListedSession, given: string): boolean {
  return callIds.length === 0 || callIds.some((callId) => hasIdPrefix(callId, given));
}

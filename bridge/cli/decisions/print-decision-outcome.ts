/** Prints the result of a decision, as the agent reported it. */
import type { DecisionWord, PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { visibleText, visibleLine } from '../../../shared/text/visible-text.ts';
import { whenApprovedCallRuns } from '../../mcp/reports/next-step.ts';
import type { Session } from '../../sessions/session/session.ts';
import { styleOfState } from '../terminal/paint.ts';
import { sessionWord } from '../terminal/short-ids.ts';
import { quotedRows } from '../terminal/rows.ts';
import { inTerminalWords } from '../terminal/terminal-words.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { taskStateWord } from '../../../shared/text/task-state-word.ts';

const DONE: Readonly<Record<DecisionWord | 'answer', string>> = {
  approve: 'Approved',
  deny: 'Denied',
  edit: 'Approved as edited',
  answer: 'Answered',
};

interface DecidedCall {
  callId: string;
  decision: DecisionWord | 'answer';
}

interface DecisionOutcome {
  decided: readonly DecidedCall[];
  /** The calls that still wait. */
  pending: readonly PendingAction[];
  notes: readonly string[];
}

export function printDecisionOutcome(
  terminal: Terminal,
  session: Session,
  decided: readonly DecidedCall[],
): void {
  // The agent's response may still show the task before this decision. So the calls that were just decided are omitted.
  const pending = (session.view?.pending ?? []).filter(
    ({ callId }) => !decided.some((each) => each.callId === callId),
  );
  const outcome = { decided, pending, notes: session.takeNotes().map(inTerminalWords) };
  terminal.json(jsonOf(session, outcome));
  printText(session, outcome, terminal);
}

function jsonOf({ id, view, agent, stateName: state }: Session, outcome: DecisionOutcome): object {
  const { decided, pending, notes } = outcome;
  return {
    sessionId: id,
    agent: agent.name,
    taskId: view?.taskId ?? null,
    state,
    decided,
    pending: pending.map(({ callId, title }) => ({ callId, title })),
    notes,
  };
}

function printText(
  session: Session,
  { decided, pending, notes }: DecisionOutcome,
  { paint, width, say, explain }: Terminal,
): void {
  const { id, view, stateName: state } = session;
  const calls = view?.calls ?? [];
  for (const { callId, decision } of decided) {
    const title = calls.find((call) => call.callId === callId)?.title ?? '';
    const done = paint(decision === 'deny' ? 'red' : 'green', DONE[decision]);
    explain(`${done}: ${visibleLine(callId)}  ${visibleLine(title)}`.trimEnd());
  }
  for (const { callId, title } of pending)
    explain(`${paint('yellow', 'Still waits')}: ${visibleLine(callId)}  ${visibleLine(title)}`);
  for (const note of notes) explain(`Note: ${visibleText(note)}`);
  if (view?.question) say(`The agent asks:\n${quotedRows(view.question.text, width)}`);
  explain(
    pending.length > 0
      ? whenApprovedCallRuns(session)
      : `The task is ${paint(styleOfState(state), taskStateWord(state))}. Follow it with: mcp-a2a-bridge watch ${sessionWord(id)}`,
  );
}

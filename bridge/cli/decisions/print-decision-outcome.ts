/** Prints the result of a decision, as the agent reported it. */
import type { DecisionWord } from '../../../shared/protocol/tool-approval.ts';
import { visibleText, visibleLine } from '../../../shared/text/visible-text.ts';
import { whenApprovedCallRuns } from '../../mcp/reports/next-step.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { CommonCommandOptions, CommandRun } from '../context/run-command.ts';
import { styleOfState } from '../terminal/state-style.ts';
import { sessionWord } from '../terminal/short-ids.ts';
import { quotedRows } from '../terminal/quoted-rows.ts';
import { inTerminalWords } from '../terminal/terminal-words.ts';
import { taskStateWord } from '../../../shared/text/task-state-word.ts';

const DONE: Readonly<Record<DecisionWord | 'answer', string>> = {
  approve: 'Approved',
  deny: 'Denied',
  edit: 'Approved as edited',
  answer: 'Answered',
};

export function printDecisionOutcome(
  { options, terminal }: CommandRun<CommonCommandOptions>,
  session: Session,
  decided: readonly { callId: string; decision: DecisionWord | 'answer' }[],
): void {
  const { id, view, agent } = session;
  const just = new Set(decided.map(({ callId }) => callId));
  // The agent's response may still show the task before this decision. So the calls that were just decided are omitted.
  const pending = (view?.pending ?? []).filter(({ callId }) => !just.has(callId));
  const state = session.stateName;
  const notes = session.takeNotes().map(inTerminalWords);
  if (options.json === true) {
    terminal.say(
      JSON.stringify({
        sessionId: id,
        agent: agent.name,
        taskId: view?.taskId ?? null,
        state,
        decided,
        pending: pending.map(({ callId, title }) => ({ callId, title })),
        notes,
      }),
    );
    return;
  }
  for (const { callId, decision } of decided) {
    const title = view?.calls.find((call) => call.callId === callId)?.title ?? '';
    const done = terminal.paint(decision === 'deny' ? 'red' : 'green', DONE[decision]);
    terminal.explain(`${done}: ${visibleLine(callId)}  ${visibleLine(title)}`.trimEnd());
  }
  for (const { callId, title } of pending)
    terminal.explain(
      `${terminal.paint('yellow', 'Still waits')}: ${visibleLine(callId)}  ${visibleLine(title)}`,
    );
  for (const note of notes) terminal.explain(`Note: ${visibleText(note)}`);
  if (view?.question !== undefined && view.question !== null)
    terminal.say(`The agent asks:\n${quotedRows(view.question.text, terminal.width)}`);
  terminal.explain(
    pending.length > 0
      ? whenApprovedCallRuns(session)
      : `The task is ${terminal.paint(styleOfState(state), taskStateWord(state))}. Follow it with: mcp-a2a-bridge watch ${sessionWord(id)}`,
  );
}

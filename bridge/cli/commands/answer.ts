/** The command `answer`: sends the person's answer to a question of the agent. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import type { PersonDecision } from '../../dialects/dialect.ts';
import type { TaskView } from '../../sessions/session/observed-task.ts';
import { actionText } from '../terminal/action-text.ts';
import { commandWord } from '../terminal/command-word.ts';
import { quotedRows } from '../terminal/rows.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { askToConfirm } from '../terminal/confirm.ts';
import { answerFromText, answerPrompt } from '../decisions/typed-answer.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import { resolveQuestion, resolveSessionToDecide } from '../decisions/resolve-id.ts';
import { type SessionAndCode, findSessionWithCode } from '../decisions/waiting-code.ts';
import { printDecisionOutcome } from '../decisions/print-decision-outcome.ts';
import type { CommandRun } from '../context/run-command.ts';
import { sendDecisionsFromTerminal } from '../decisions/send-decisions.ts';

interface AnswerOptions {
  call?: string;
}

/**
 * Answers a question. The person gives the answer as an argument, or types it at the prompt.
 * @param words the answer; if empty, the command shows the question and reads the answer
 * @throws ProductError DECISION_NEEDED if no question waits, INPUT_CHANGED if no question has the complete code;
 * UsageError without a terminal
 */
export async function answerCommand(
  run: CommandRun<AnswerOptions>,
  given: string,
  words: readonly string[],
): Promise<void> {
  const context = await run.openSessions();
  const coded = await findSessionWithCode(context.sessions, given);
  const session = coded?.session ?? (await resolveSessionToDecide(context.sessions, given));
  await session.refresh();
  const decision = await answerOf(run, session.view, { coded, words: words.join(' ') });
  await sendDecisionsFromTerminal(session, [decision], run.terminal);
  printDecisionOutcome(run.terminal, session, [{ callId: decision.callId, decision: 'answer' }]);
}

async function answerOf(
  run: CommandRun<AnswerOptions>,
  view: TaskView | undefined,
  { coded, words }: { coded: SessionAndCode | undefined; words: string },
): Promise<Extract<PersonDecision, { type: 'answer' }>> {
  const code = coded?.code;
  const ask = (text: string, shown: string, action?: PendingAction): Promise<string> => {
    if (words === '') return askForAnswer(run.terminal, text, answerPrompt(action));
    return coded?.whole === true
      ? Promise.resolve(words)
      : confirmAnswer(run.terminal, { text, shown }, words);
  };
  const question = view?.question ?? null;
  if (question !== null) {
    const { id, shown, text } = question;
    if (code !== undefined && code !== shown) throw questionChangedError();
    return {
      type: 'answer',
      callId: id,
      shown,
      answer: await ask(quotedRows(text, run.terminal.width), shown),
    };
  }
  const action = resolveQuestion(view, { call: run.options.call, code });
  const { callId, shown } = action;
  const said = await ask(actionText(action, run.terminal), shown, action);
  return { type: 'answer', callId, shown, answer: answerFromText(action, said) };
}

function questionChangedError(): ProductError {
  return new ProductError('INPUT_CHANGED', 'The agent asks something else now. Nothing was answered.');
}

/**
 * Shows the question and asks the person to confirm the answer. D2: a decision is valid only for what the person saw.
 * @throws UsageError, ProductError DECISION_NEEDED
 */
async function confirmAnswer(
  terminal: Terminal,
  { text, shown }: { text: string; shown: string },
  words: string,
): Promise<string> {
  terminal.say(text);
  const commandWithoutQuestion = `answer ${commandWord(shown)} <words>`;
  if (await askToConfirm(terminal, { commandWithoutQuestion }, 'Answer this?')) return words;
  throw new ProductError('DECISION_NEEDED', 'Nothing was answered.');
}

/**
 * Reads the answer from the terminal.
 * @throws UsageError without a terminal; ProductError DECISION_NEEDED for an empty answer
 */
async function askForAnswer(terminal: Terminal, question: string, prompt: string): Promise<string> {
  if (!terminal.canAsk)
    throw new UsageError('There is no terminal to ask at: put the answer after the code of the question.');
  terminal.say(question);
  const said = await terminal.ask(terminal.paint('bold', `${prompt}:`));
  if (said.trim() === '') throw new ProductError('DECISION_NEEDED', 'Nothing was answered.');
  return said;
}

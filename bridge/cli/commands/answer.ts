/** `answer`: what a person says to the question of an agent. */
import { ProductError } from '../../../shared/errors.ts';
import type { Answer } from '../../../shared/protocol/question.ts';
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { visibleText } from '../../../shared/visible-text.ts';
import type { Verdict } from '../../dialects/dialect.ts';
import type { TaskView } from '../../sessions/view.ts';
import { actionText } from '../action-text.ts';
import { chosenBy } from '../chosen-by.ts';
import { openDesk } from '../desk.ts';
import { UsageError } from '../exit-codes.ts';
import { questionMeant, sessionMeant } from '../meant.ts';
import { reportDecision } from '../report-decision.ts';
import type { CommonOptions, Run } from '../run.ts';
import { sendVerdicts } from '../send-verdicts.ts';

export interface AnswerOptions extends CommonOptions {
  /** Which question, where several wait. */
  call?: string;
}

/**
 * @param words what was typed with the command; without any, the person is shown the question and asked
 * @throws ProductError DECISION_NEEDED when it asks for decisions, or for nothing; UsageError where nobody can be asked
 */
export async function answer(
  run: Run<AnswerOptions>,
  given: string,
  words: readonly string[],
): Promise<number> {
  const desk = await openDesk(run);
  const session = await sessionMeant(desk.sessions, given);
  await session.refresh();
  const verdict = await answerOf(run, session.view, words.join(' '));
  await sendVerdicts(session, [verdict]);
  reportDecision(run, session, [{ callId: verdict.callId, decision: 'answer' }]);
  await desk.close();
  return 0;
}

async function answerOf(
  run: Run<AnswerOptions>,
  view: TaskView | undefined,
  words: string,
): Promise<Extract<Verdict, { type: 'answer' }>> {
  const question = view?.question ?? null;
  if (question !== null) {
    const answered = words === '' ? await asked(run, visibleText(question.text)) : words;
    return { type: 'answer', callId: question.id, answer: answered };
  }
  const action = questionMeant(view, run.options.call);
  const said = words === '' ? await asked(run, actionText(action, run.terminal.paint)) : words;
  return { type: 'answer', callId: action.callId, answer: labels(action, said), inputHash: action.inputHash };
}

function labels({ preview }: PendingAction, said: string): Answer {
  return preview.type === 'question' ? chosenBy(preview, said) : said;
}

/** @throws UsageError where nobody can be asked; ProductError DECISION_NEEDED when nothing is said */
async function asked({ terminal, options }: Run<AnswerOptions>, question: string): Promise<string> {
  if (!terminal.interactive || options.json === true)
    throw new UsageError('Nobody can be asked here: put the answer after the session.');
  terminal.say(question);
  const said = await terminal.ask(terminal.paint('bold', 'Answer, or the number of a choice:'));
  if (said.trim() === '') throw new ProductError('DECISION_NEEDED', 'Nothing was answered.');
  return said;
}

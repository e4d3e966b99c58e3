/** `answer`: the words for an agent that asks a question. */
import { ProductError } from '../../../shared/errors.ts';
import { openDesk } from '../desk.ts';
import { sessionMeant } from '../meant.ts';
import { reportDecision } from '../report-decision.ts';
import type { CommonOptions, Run } from '../run.ts';
import { sendVerdicts } from '../send-verdicts.ts';

/** @throws ProductError DECISION_NEEDED when it asks for decisions, or for nothing */
export async function answer(
  run: Run<CommonOptions>,
  given: string,
  words: readonly string[],
): Promise<number> {
  const desk = await openDesk(run);
  const session = await sessionMeant(desk.sessions, given);
  await session.refresh();
  const question = session.view?.question ?? null;
  if (question === null) {
    const pending = session.view?.pending.length ?? 0;
    throw new ProductError(
      'DECISION_NEEDED',
      pending > 0
        ? `The agent asks no question: ${String(pending)} action(s) wait for approve, deny or edit.`
        : 'The agent asks nothing.',
    );
  }
  const { id: callId } = question;
  await sendVerdicts(session, [{ type: 'answer', callId, answer: words.join(' ') }]);
  reportDecision(run, session, [{ callId, decision: 'answer' }]);
  await desk.close();
  return 0;
}

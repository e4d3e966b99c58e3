/**
 * Answers to forms, taken in: each is judged on its own, those that decide go to the agent in one message, and those that
 * do not change nothing. The journal decides between a form and any other way: the first valid decision wins (D1).
 */
import { messageOf, ProductError } from '../../shared/errors.ts';
import type { Verdict } from '../dialects/dialect.ts';
import type { Session } from '../sessions/session.ts';
import type { Ask } from './form.ts';
import { readAnswer, type Unanswered } from './form-answer.ts';
import type { ApprovalRules, Channel } from './ladder.ts';
import type { Offers } from './offers.ts';
import { sendVerdicts } from './send-verdicts.ts';

export interface FormAnswers {
  session: Session;
  /** By the forms' keys, as the client sent them. What answers no form that is open is ignored. */
  responses: Readonly<Record<string, unknown>>;
  channel: Channel;
  offers: Offers;
  rules: ApprovalRules;
}

/** What became of them: how many decided, and why others did not. */
export interface SettledForms {
  decided: number;
  unanswered: readonly Unanswered[];
  /** What the agent said to decisions it did not take. */
  refused: string | undefined;
}

/** @throws ProductError when the agent cannot be reached: nothing is known to be decided then */
export async function settleForms({
  session,
  responses,
  channel,
  offers,
  rules,
}: FormAnswers): Promise<SettledForms> {
  const taskId = session.view?.taskId ?? '';
  const verdicts: Verdict[] = [];
  const deciding: Ask[] = [];
  const unanswered: Unanswered[] = [];
  for (const ask of offers.asks(taskId, session.asked)) {
    if (!Object.hasOwn(responses, ask.key)) continue;
    const timing = { afterMs: offers.age(taskId, ask), fastestAnswerMs: rules.fastestAnswerMs };
    const answer = readAnswer(ask, responses[ask.key], timing);
    if (answer.type === 'verdict') {
      verdicts.push(answer.verdict);
      deciding.push(ask);
    } else {
      unanswered.push(answer.why);
      if (answer.note !== '') offers.again(taskId, ask, answer.note);
    }
  }
  if (verdicts.length === 0) return { decided: 0, unanswered, refused: undefined };
  try {
    await sendVerdicts(session, verdicts, channel);
    return { decided: verdicts.length, unanswered, refused: undefined };
  } catch (error) {
    if (!(error instanceof ProductError) || error.retryable || error.reason === 'AGENT_ERROR') throw error;
    if (error.reason !== 'ALREADY_DECIDED')
      for (const ask of deciding)
        offers.again(taskId, ask, `The answer before did not count: ${error.message}`);
    // Whoever was first has changed what is pending.
    await session.look();
    return { decided: 0, unanswered, refused: messageOf(error) };
  }
}

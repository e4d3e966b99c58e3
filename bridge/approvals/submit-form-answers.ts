/**
 * Reads the answers to forms, and sends all decisions to the agent in one message. An invalid answer has no effect. D1:
 * the first valid decision wins, whichever form, page or command it came from. The agent's journal determines which was
 * first.
 */
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { PersonDecision } from '../dialects/dialect.ts';
import type { FormCandidate } from './form.ts';
import { formOutcomeOf, type UnansweredReason } from './form-answer.ts';
import type { ApprovalSettings, DecisionChannel } from '../settings/approval-mode.ts';
import { lateAnswerNotes } from './withdrawn-form-answer.ts';
import type { SessionForms } from './forms-to-offer.ts';
import { sendDecisions } from './send-decisions.ts';

export interface SubmitFormAnswersOptions extends SessionForms {
  /** The client's answers by form key. An answer to a form that is no longer open has no effect. */
  responses: Readonly<Record<string, unknown>>;
  channel: DecisionChannel;
  rules: ApprovalSettings;
}

export interface SubmittedAnswers {
  decided: number;
  /**
   * The forms whose page the person has opened. The person decides on that page, and the agent reports the decision.
   */
  opened: readonly FormCandidate[];
  /** Notes for answers to withdrawn forms. Each explains why the answer has no effect. */
  late: readonly string[];
  unanswered: readonly UnansweredReason[];
  refused: string | undefined;
}

/** The valid answers of a person, and the forms without one. */
interface ReadAnswers {
  decided: { ask: FormCandidate; decision: PersonDecision }[];
  opened: FormCandidate[];
  unanswered: UnansweredReason[];
}

/**
 * Sends the decisions in the answers, and returns what they decided.
 * @throws ProductError if the agent cannot be reached. The decisions may then have arrived.
 */
export async function submitFormAnswers(options: SubmitFormAnswersOptions): Promise<SubmittedAnswers> {
  const { session, responses, channel, formHistory } = options;
  const taskId = session.view?.taskId ?? '';
  const asks = formHistory.lastOffered(taskId, session.pendingInput);
  const late = lateAnswerNotes(responses, { asks, view: session.view, channel, formHistory });
  const { decided, opened, unanswered } = await readAnswers(taskId, asks, options);
  const settled = { opened, late, unanswered };
  if (decided.length === 0) return { ...settled, decided: 0, refused: undefined };
  try {
    await sendDecisions(
      session,
      decided.map(({ decision }) => decision),
      channel,
    );
    return { ...settled, decided: decided.length, refused: undefined };
  } catch (error) {
    if (!(error instanceof ProductError) || error.retryable || error.reason === 'AGENT_ERROR') throw error;
    if (error.reason !== 'ALREADY_DECIDED')
      for (const { ask } of decided)
        formHistory.recordInvalidAnswer(taskId, ask, `The previous answer did not count: ${error.message}`);
    // Another decision has changed the pending actions, so the bridge reads the task again.
    await session.fetchTask();
    return { ...settled, decided: 0, refused: errorMessageOf(error) };
  }
}

async function readAnswers(
  taskId: string,
  asks: readonly FormCandidate[],
  { session, responses, formHistory, links, rules }: SubmitFormAnswersOptions,
): Promise<ReadAnswers> {
  const read: ReadAnswers = { decided: [], opened: [], unanswered: [] };
  for (const ask of asks) {
    if (!Object.hasOwn(responses, ask.key)) continue;
    if (formHistory.ignoresAnswersTo(taskId, ask)) {
      read.unanswered.push('not understood');
      continue;
    }
    const answer = formOutcomeOf(ask, responses[ask.key], {
      afterMs: formHistory.ageOfFormMs(taskId, ask),
      fastestAnswerMs: rules.fastestAnswerMs,
      narrowedColumns: formHistory.narrowedColumns(taskId),
    });
    if (answer.type === 'decision') {
      read.decided.push({ ask, decision: answer.decision });
    } else if (answer.type === 'opened') {
      const link = ask.about === 'page' ? await links.link(session, ask) : undefined;
      if (link !== undefined && link !== 'expired') formHistory.recordOpenedLink(taskId, ask, link.leftMs);
      read.opened.push(ask);
    } else {
      read.unanswered.push(answer.why);
      if (answer.note !== '') formHistory.recordInvalidAnswer(taskId, ask, answer.note);
    }
  }
  return read;
}

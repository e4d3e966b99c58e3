/**
 * Reads a person's answer to a form. Pure. D1: only a valid decision has an effect. So an unclear answer is neither an
 * approval nor a denial.
 */
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import { displayWidth } from '../text/display-width.ts';
import { z } from 'zod';
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { PersonDecision } from '../dialects/dialect.ts';
import { parseFormAnswer } from './answer-fields.ts';
import { type DecisionInput, DECISION_WORDS, toPersonDecision } from './decision-input.ts';
import type { FormCandidate } from './form.ts';
import { inputProblem, zodIssuesText } from '../../shared/text/input-problem.ts';

type FormOutcome =
  | { type: 'decision'; decision: PersonDecision }
  /** The person has opened the link to the page, and has not decided yet. */
  | { type: 'opened' }
  /** The person has given no valid answer. `note` is the explanation for the next form, or '' for none. */
  | { type: 'unanswered'; why: UnansweredReason; note: string };

export type UnansweredReason = 'cancelled' | 'too fast' | 'too narrow' | 'not understood';

const elicitResult = z.looseObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.unknown()).nullish(),
});

/** A text field that may be empty. Clients send an empty field as undefined, null or ''. */
const optional = z
  .string()
  .nullish()
  .transform((text) => (text === null || text === '' ? undefined : text));

/** A number field that may be empty. Some clients send the number as text. */
const optionalNumber = z.preprocess(
  (value) => (value === null || value === '' ? undefined : typeof value === 'string' ? Number(value) : value),
  z.number().optional(),
);

const formContentSchema = z.looseObject({
  decision: z.enum(DECISION_WORDS).exclude(['answer']).nullish(),
  editedContent: optional,
  editedCommand: optional,
  editedInput: optional,
  trustMinutes: optionalNumber,
  trustUses: optionalNumber,
  reason: optional,
});
const answered = z.looseObject({ answer: z.string().min(1) });

interface AnswerCircumstances {
  /**
   * The time from sending the form to its answer, in milliseconds. Undefined if an earlier bridge process sent the
   * form.
   */
  afterMs: number | undefined;
  fastestAnswerMs: number;
  /** The width of a form's rows now, if the window became narrower since the form was sent. */
  narrowedColumns?: number | undefined;
}

/**
 * Converts a client's answer to a decision, or explains why it is not a valid answer.
 * @param response the client's result of `elicitation/create`, not yet validated
 */
export function formOutcomeOf(
  ask: FormCandidate,
  response: unknown,
  { afterMs, fastestAnswerMs, narrowedColumns }: AnswerCircumstances,
): FormOutcome {
  const parsed = elicitResult.safeParse(response);
  if (!parsed.success) return notUnderstood('The answer had no action.');
  const { action, content } = parsed.data;
  if (action === 'cancel') return { type: 'unanswered', why: 'cancelled', note: '' };
  // A person cannot read the form and answer that fast. So a program has sent this answer.
  if (afterMs !== undefined && afterMs < fastestAnswerMs) {
    return {
      type: 'unanswered',
      why: 'too fast',
      note: `The previous answer came after ${String(Math.round(afterMs))} ms, faster than anybody reads. It did not count.`,
    };
  }
  try {
    switch (ask.about) {
      case 'question':
        return answerTo(ask, action, content ?? {});
      case 'asked':
        return answerOn(ask, action, content ?? {});
      case 'action':
        return withoutApprovalOfCutRows(
          decisionOn(ask, action, content ?? {}),
          ask.form.message,
          narrowedColumns,
        );
      case 'unshown':
      case 'other-approver':
        return notUnderstood('No form asked it.');
      case 'page':
        // MCP 2026-07-28, URL mode: "accept" only means that the person agrees to open the URL. The person decides
        // later, on the page.
        return action === 'accept' ? { type: 'opened' } : decisionOn(ask, action, {});
    }
  } catch (error) {
    if (error instanceof ProductError) return notUnderstood(errorMessageOf(error));
    throw error;
  }
}

/**
 * D5: a person can approve only what is shown in full. If the window became narrower while the form was open, the client
 * cut the rows that are wider than the window. If it cut a row, only a denial counts.
 * @param columns the new width; absent if the window did not become narrower
 */
function withoutApprovalOfCutRows(
  outcome: FormOutcome,
  message: string,
  columns = Number.POSITIVE_INFINITY,
): FormOutcome {
  if (
    outcome.type !== 'decision' ||
    outcome.decision.type !== 'decision' ||
    outcome.decision.decision.decision === 'deny'
  )
    return outcome;
  if (message.split('\n').every((row) => displayWidth(row) <= columns)) return outcome;
  return {
    type: 'unanswered',
    why: 'too narrow',
    note: 'The window had become too narrow, and rows of the previous form were cut. The approval did not count.',
  };
}

function answerTo(
  ask: Extract<FormCandidate, { about: 'question' }>,
  action: 'accept' | 'decline',
  content: Record<string, unknown>,
): FormOutcome {
  // A person who declines a plain-text question denies nothing. The question stays open.
  if (action === 'decline') return { type: 'unanswered', why: 'cancelled', note: '' };
  const parsed = answered.safeParse(content);
  if (!parsed.success) return notUnderstood('The answer was empty.');
  const { shown } = ask.question;
  return {
    type: 'decision',
    decision: { type: 'answer', callId: ask.callId, shown, answer: parsed.data.answer },
  };
}

function answerOn(
  { callId, action: { shown }, asked }: Extract<FormCandidate, { about: 'asked' }>,
  action: 'accept' | 'decline',
  content: Record<string, unknown>,
): FormOutcome {
  // D2: a decision is valid only for what the person saw. So it contains the code of the action that this form showed.
  if (action === 'decline')
    return { type: 'decision', decision: toPersonDecision({ callId, shown, decision: 'deny' }) };
  const answer = parseFormAnswer(asked, content);
  if (answer === undefined) return notUnderstood('The answer was empty.');
  return { type: 'decision', decision: { type: 'answer', callId, shown, answer } };
}

function decisionOn(
  ask: Extract<FormCandidate, { about: 'action' | 'page' }>,
  action: 'accept' | 'decline',
  content: Record<string, unknown>,
): FormOutcome {
  // An answer with a field that was not in the form is refused, because the person has not seen that field.
  const offered = ask.about === 'action' ? ask.form.requestedSchema.properties : {};
  const unknown = Object.keys(content).find((field) => !Object.hasOwn(offered, field));
  if (unknown !== undefined) return notUnderstood(`The form has no field "${unknown}".`);
  const parsed = formContentSchema.safeParse(content, { error: inputProblem });
  if (!parsed.success) return notUnderstood(`${zodIssuesText(parsed.error)}.`);
  const { decision, editedContent, trustMinutes, trustUses, reason } = parsed.data;
  const editedInput = inputIn(parsed.data, ask.action);
  const edits = editedContent !== undefined || editedInput !== undefined;
  // If the person has edited the text, the decision is an edit, even if the field `decision` is still "approve".
  const said = decision ?? 'approve';
  const word = action === 'decline' ? 'deny' : edits && said === 'approve' ? 'edit' : said;
  if (!ask.words.includes(word)) return notUnderstood(`"${word}" is no decision that can be made on this.`);
  // The `trust_…` decisions approve the input as shown, so the person's edit would be lost.
  if (edits && word.startsWith('trust_')) return notUnderstood('Your text needs "Approve once".');
  const input: DecisionInput = {
    callId: ask.callId,
    shown: ask.action.shown,
    decision: word,
    ...(word !== 'edit' || editedContent === undefined ? {} : { editedContent }),
    ...(word !== 'edit' || editedInput === undefined ? {} : { editedInput }),
    ...(word === 'deny' || trustMinutes === undefined ? {} : { trustMinutes }),
    ...(word === 'deny' || trustUses === undefined ? {} : { trustUses }),
    ...(reason === undefined ? {} : { reason }),
  };
  return { type: 'decision', decision: toPersonDecision(input) };
}

/** Returns the edited input. Returns undefined if the person changed nothing. @throws ProductError INVALID_DECISION */
function inputIn(
  {
    editedCommand,
    editedInput: text,
  }: { editedCommand?: string | undefined; editedInput?: string | undefined },
  { input }: PendingAction,
): Record<string, unknown> | undefined {
  if (editedCommand !== undefined) return { ...input, command: editedCommand };
  if (text === undefined) return undefined;
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    throw new ProductError('INVALID_DECISION', 'The edited input was not a JSON object.');
  }
}

function notUnderstood(problem: string): FormOutcome {
  return {
    type: 'unanswered',
    why: 'not understood',
    note: `The previous answer did not count: ${problem}`,
  };
}

/** Reads what a person typed at a prompt: a decision, or the answer to a question. Pure. */
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import type { Answer, Question } from '../../../shared/protocol/question.ts';

/** Returns the answer to a pending question from the text that the person typed. */
export function answerFromText({ preview }: PendingAction, said: string): Answer {
  return preview.type === 'question' ? replaceChoiceNumbers(preview, said) : said;
}

/**
 * Returns the words that ask a person for an answer.
 * @param action undefined for a question in plain text, which has no choices
 */
export function answerPrompt(action: PendingAction | undefined): string {
  const hasChoices = action?.preview.type === 'question' && (action.preview.choices ?? []).length > 0;
  return hasChoices ? 'Answer, or the number of a choice' : 'Answer';
}

/** Replaces each number, counted from 1, with the label of that choice. Returns any other text unchanged. */
export function replaceChoiceNumbers({ choices = [], multiple = false }: Question, typed: string): Answer {
  const labels = choices.map(({ label }) => label);
  if (labels.includes(typed.trim())) return typed;
  const numbers = multiple ? typed.split(/[,\s]+/).filter((each) => each !== '') : [typed.trim()];
  const chosen = numbers.flatMap((each) => (/^\d{1,4}$/.test(each) ? (labels[Number(each) - 1] ?? []) : []));
  if (chosen.length === 0 || chosen.length < numbers.length) return typed;
  return multiple ? chosen : (chosen[0] ?? typed);
}

type TypedDecision =
  | { type: 'approve' }
  | { type: 'deny'; reason?: string }
  | { type: 'leave' }
  | { type: 'unclear' };

/** Parses the text that a person typed at the prompt. `y` approves. `n` denies, and a reason may follow. */
export function parseTypedDecision(text: string): TypedDecision {
  const [word = '', ...rest] = text.trim().split(/\s+/);
  if (word === '') return { type: 'leave' };
  if (/^y(es)?$/i.test(word) && rest.length === 0) return { type: 'approve' };
  if (!/^no?$/i.test(word)) return { type: 'unclear' };
  return rest.length === 0 ? { type: 'deny' } : { type: 'deny', reason: rest.join(' ') };
}

/** Converts the numbers that a person typed to the choices of a question. Pure. */
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

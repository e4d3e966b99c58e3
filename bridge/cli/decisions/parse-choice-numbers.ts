/** Converts typed numbers to choices. Pure. */
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import type { Answer, Question } from '../../../shared/protocol/question.ts';

/** Returns the answer to a pending question, from the typed text. */
export function answerFromText({ preview }: PendingAction, said: string): Answer {
  return preview.type === 'question' ? parseChoiceNumbers(preview, said) : said;
}

/** Replaces numbers, counted from 1, by the labels of their choices. Returns any other text unchanged. */
export function parseChoiceNumbers({ choices = [], multiple = false }: Question, typed: string): Answer {
  const labels = choices.map(({ label }) => label);
  if (labels.includes(typed.trim())) return typed;
  const numbers = multiple ? typed.split(/[,\s]+/).filter((each) => each !== '') : [typed.trim()];
  const chosen = numbers.flatMap((each) => (/^\d{1,4}$/.test(each) ? (labels[Number(each) - 1] ?? []) : []));
  if (chosen.length === 0 || chosen.length < numbers.length) return typed;
  return multiple ? chosen : (chosen[0] ?? typed);
}

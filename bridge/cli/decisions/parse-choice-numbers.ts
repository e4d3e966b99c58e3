/** Reads typed numbers as choices. Pure. */
import type { PendingAction } from '../../../shared/protocol/tool-approval.ts';
import type { Answer, Question } from '../../../shared/protocol/question.ts';

/** The answer to a pending question, as the person typed it. */
export function answerLabels({ preview }: PendingAction, said: string): Answer {
  return preview.type === 'question' ? parseChoiceNumbers(preview, said) : said;
}

/** Replaces numbers by the labels of their choices, counted from 1; returns any other text as typed. */
export function parseChoiceNumbers({ choices = [], multiple = false }: Question, typed: string): Answer {
  const labels = choices.map(({ label }) => label);
  if (labels.includes(typed.trim())) return typed;
  const numbers = multiple ? typed.split(/[,\s]+/).filter((each) => each !== '') : [typed.trim()];
  const chosen = numbers.flatMap((each) => (/^\d{1,4}$/.test(each) ? (labels[Number(each) - 1] ?? []) : []));
  if (chosen.length === 0 || chosen.length < numbers.length) return typed;
  return multiple ? chosen : (chosen[0] ?? typed);
}

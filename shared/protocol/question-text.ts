/** A question and its answer in words, for whoever reads them as text. Pure. */
import type { Answer, FormSchema, Question } from './question.ts';

/** The question, and below it what it can be answered with, one a line. */
export function questionText({ text, choices = [], schema }: Question): string {
  const below = [
    ...choices.map(({ label, description }) => `- ${label}${explained(description)}`),
    ...(schema ? fieldLines(schema) : []),
  ];
  return below.length === 0 ? text : `${text}\n\n${below.join('\n')}`;
}

/** An answer in words: the labels of several choices a line each, a form as JSON. */
export function answerText(answer: Answer): string {
  if (typeof answer === 'string') return answer;
  return Array.isArray(answer) ? answer.join('\n') : JSON.stringify(answer);
}

function fieldLines({ properties, required = [] }: FormSchema): string[] {
  return Object.entries(properties).map(([name, { type, title, description, ...field }]) => {
    const labels = field.enum ?? field.oneOf?.map((one) => one.const) ?? field.items?.enum;
    const kind = labels === undefined ? type : `${type}: ${labels.join(' | ')}`;
    const need = required.includes(name) ? '' : ', may be left out';
    return `- ${name} (${kind}${need})${explained(description ?? title)}`;
  });
}

function explained(description: string | undefined): string {
  return description === undefined || description === '' ? '' : `: ${description}`;
}

/** Formats a question and its answer as text. Pure. */
import type { Answer, FormSchema, Question } from './question.ts';

/** The question, then one line for each choice or form field. */
export function questionText({ text, choices = [], schema }: Question): string {
  const below = [
    ...choices.map(({ label, description }) => `- ${label}${explained(description)}`),
    ...(schema ? fieldLines(schema) : []),
  ];
  return below.length === 0 ? text : `${text}\n\n${below.join('\n')}`;
}

/** The answer as text: one line for each chosen label, or the form as JSON. */
export function answerText(answer: Answer): string {
  if (typeof answer === 'string') return answer;
  return Array.isArray(answer) ? answer.join('\n') : JSON.stringify(answer);
}

function fieldLines({ properties, required = [] }: FormSchema): string[] {
  return Object.entries(properties).map(([name, { type, title, description, ...field }]) => {
    const labels = field.enum ?? field.oneOf?.map((one) => one.const) ?? field.items?.enum;
    const kind = labels === undefined ? type : `${type}: ${labels.join(' | ')}`;
    const need = required.includes(name) ? '' : ', optional';
    return `- ${name} (${kind}${need})${explained(description ?? title)}`;
  });
}

function explained(description: string | undefined): string {
  return description === undefined || description === '' ? '' : `: ${description}`;
}

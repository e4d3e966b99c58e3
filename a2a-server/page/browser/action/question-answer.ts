import type { Answer, PendingAction } from '../../../../shared/client/index.ts';

export type QuestionPreview = Extract<PendingAction['preview'], { type: 'question' }>;

export interface FilledForm {
  chosen: readonly string[];
  text: string;
  values: Readonly<Record<string, string>>;
}

export const EMPTY_FILLED_FORM: FilledForm = { chosen: [], text: '', values: {} };

interface FormField {
  name: string;
  title: string;
  description: string | undefined;
  type: 'text' | 'number';
  options: readonly (readonly [string, string])[] | undefined;
}

type Schema = NonNullable<QuestionPreview['schema']>['properties'][string];

export function formFieldsOfQuestion({ schema }: QuestionPreview): readonly FormField[] {
  return Object.entries(schema?.properties ?? {}).map(([name, field]) => ({
    name,
    title: field.title ?? name,
    description: field.description,
    type: isNumber(field) ? 'number' : 'text',
    options: optionsOf(field),
  }));
}

/**
 * Converts the filled form to an answer. A text is one more of several choices, as in the bridge's form. Returns
 * undefined if a required value is missing.
 */
export function answerFromForm(
  question: QuestionPreview,
  { chosen, text, values }: FilledForm,
): Answer | undefined {
  const { schema, multiple = false } = question;
  if (schema !== undefined) {
    const filled = Object.entries(schema.properties).flatMap(([name, field]) => {
      const value = values[name] ?? '';
      return value === '' ? [] : [[name, valueOf(field, value)] as const];
    });
    const missing = (schema.required ?? []).some((name) => filled.every(([each]) => each !== name));
    return missing ? undefined : Object.fromEntries(filled);
  }
  const written = text.trim() === '' ? [] : [text.trim()];
  if (multiple && chosen.length > 0) return [...chosen, ...written];
  return chosen[0] ?? written[0];
}

function isNumber({ type }: Schema): boolean {
  return type === 'number' || type === 'integer';
}

function optionsOf(field: Schema): FormField['options'] {
  if (field.type === 'boolean')
    return [
      ['true', 'yes'],
      ['false', 'no'],
    ];
  if (field.oneOf !== undefined) return field.oneOf.map(({ const: value, title }) => [value, title ?? value]);
  return field.enum?.map((value, index) => [value, field.enumNames?.[index] ?? value]);
}

function valueOf(field: Schema, text: string): unknown {
  if (field.type === 'boolean') return text === 'true';
  if (isNumber(field)) return Number(text);
  return field.type === 'array' ? text.split(',').map((each) => each.trim()) : text;
}

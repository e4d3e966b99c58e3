/**
 * Builds the form fields for a question, and reads the answer from the filled-in form. Pure. Clients of all MCP
 * revisions show these fields. Multiple choice uses one checkbox per choice, because multi-select fields are newer
 * than forms.
 */
import { z } from 'zod';
import type { Answer, FormSchema, Question } from '../../shared/protocol/question.ts';
import type { Field, Fields, TextField } from './form-field.ts';

/** The field for an answer in the person's own words. */
const OTHER = 'other';

export function answerFields(question: Question): Fields {
  const { schema, choices, multiple, freeText } = question;
  if (schema !== undefined) return formFields(schema);
  if (choices === undefined) return { properties: { answer: ANSWER }, required: ['answer'] };
  const other: Record<string, Field> = freeText
    ? { [OTHER]: { type: 'string', title: 'In other words', description: 'In the place of a choice.' } }
    : {};
  if (multiple) {
    const ticks = choices.map(({ label, description }, index): [string, Field] => [
      tickOf(index),
      { type: 'boolean', title: label, ...(description !== undefined && { description }), default: false },
    ]);
    return { properties: { ...Object.fromEntries(ticks), ...other } };
  }
  const answer: Field = { ...ANSWER, enum: choices.map(({ label }) => label) };
  return { properties: { answer, ...other }, ...(freeText ? {} : { required: ['answer'] }) };
}

const ANSWER = { type: 'string', title: 'Answer' } as const;

/** The agent validates the answer. @returns undefined when the person filled in nothing */
export function parseFormAnswer(
  { schema, choices, multiple }: Question,
  content: Readonly<Record<string, unknown>>,
): Answer | undefined {
  const filled = Object.fromEntries(Object.entries(content).filter(([, value]) => isFilled(value)));
  if (schema !== undefined) return filled;
  const other = words.safeParse(filled[OTHER]).data;
  if (choices !== undefined && multiple) {
    const ticked = choices.flatMap(({ label }, index) => (filled[tickOf(index)] === true ? [label] : []));
    const all = [...ticked, ...(other === undefined ? [] : [other])];
    return all.length === 0 ? undefined : all;
  }
  return other ?? words.safeParse(filled['answer']).data;
}

const words = z.string().min(1);

/** Clients send an empty field as undefined, null or ''. */
function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function tickOf(index: number): string {
  return `choice${String(index + 1)}`;
}

function formFields({ properties, required }: FormSchema): Fields {
  const fields = Object.entries(properties).map(([name, field]): [string, Field] => [name, fieldOf(field)]);
  return { properties: Object.fromEntries(fields), ...(required && { required: [...required] }) };
}

function fieldOf(field: FormSchema['properties'][string]): Field {
  const { title, description } = field;
  const about = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
  switch (field.type) {
    case 'boolean':
      return { ...about, type: 'boolean', ...defaultOf(z.boolean(), field.default) };
    case 'number':
    case 'integer': {
      const { type, minimum, maximum } = field;
      const range = { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) };
      return { ...about, type, ...range, ...defaultOf(z.number(), field.default) };
    }
    case 'array': {
      const { items, minItems, maxItems } = field;
      const labels = items?.enum ?? items?.anyOf?.map((one) => one.const) ?? [];
      const range = {
        ...(minItems !== undefined && { minItems }),
        ...(maxItems !== undefined && { maxItems }),
      };
      return { ...about, type: 'array', items: { type: 'string', enum: labels }, ...range };
    }
    case 'string':
      return { ...about, ...textField(field), ...defaultOf(z.string(), field.default) };
  }
}

function textField(field: FormSchema['properties'][string]): TextField {
  const { oneOf, enumNames, format, minLength, maxLength } = field;
  if (oneOf !== undefined)
    return {
      type: 'string',
      enum: oneOf.map((one) => one.const),
      enumNames: oneOf.map((one) => one.title ?? one.const),
    };
  if (field.enum !== undefined)
    return { type: 'string', enum: [...field.enum], ...(enumNames && { enumNames: [...enumNames] }) };
  return {
    type: 'string',
    ...(format !== undefined && { format }),
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
  };
}

function defaultOf<Value>(schema: z.ZodType<Value>, value: unknown): { default?: Value } {
  const parsed = schema.safeParse(value);
  return parsed.success ? { default: parsed.data } : {};
}

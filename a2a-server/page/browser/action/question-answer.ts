import * as z from 'zod/mini';
import type { Answer, PendingAction } from '../../../../shared/client/index.ts';

export type QuestionPreview = Extract<PendingAction['preview'], { type: 'question' }>;

export interface FilledForm {
  chosen: readonly string[];
  text: string;
  values: Readonly<Record<string, string>>;
}

export const EMPTY_FILLED_FORM: FilledForm = { chosen: [], text: '', values: {} };

export interface QuestionField {
  name: string;
  title: string;
  description: string | undefined;
  /** In a `list`, the person may tick several options. The text of this field is a JSON list of the ticked values. */
  type: 'text' | 'number' | 'list';
  options: readonly (readonly [string, string])[] | undefined;
}

type Schema = NonNullable<QuestionPreview['schema']>['properties'][string];

export function questionFields({ schema }: QuestionPreview): readonly QuestionField[] {
  return Object.entries(schema?.properties ?? {}).map(([name, field]) => ({
    name,
    title: field.title ?? name,
    description: field.description,
    type: isNumber(field) ? 'number' : isListOfChoices(field) ? 'list' : 'text',
    options: optionsOf(field),
  }));
}

/** Returns the text of a field. X3: a hostile schema may name a field like an inherited property. */
export function fieldTextOf({ values }: Pick<FilledForm, 'values'>, name: string): string {
  return Object.hasOwn(values, name) ? (values[name] ?? '') : '';
}

/** Returns the values of a `list` field. @param text the text of the field */
export function listItemsOf(text: string): string[] {
  return text === '' ? [] : z.parse(z.array(z.string()), JSON.parse(text));
}

/** Returns the text of a `list` field after the person has ticked or cleared an option. */
export function withListItem(text: string, value: string, ticked: boolean): string {
  const others = listItemsOf(text).filter((each) => each !== value);
  const items = ticked ? [...others, value] : others;
  return items.length === 0 ? '' : JSON.stringify(items);
}

/**
 * Converts the filled form to an answer. If several choices are allowed, the free text counts as one more choice. Returns
 * undefined if a required value is missing.
 */
export function answerFromForm(question: QuestionPreview, form: FilledForm): Answer | undefined {
  const { chosen, text } = form;
  const { schema, multiple = false } = question;
  if (schema !== undefined) {
    const filled = Object.entries(schema.properties).flatMap(([name, field]) => {
      const value = fieldTextOf(form, name);
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

function isListOfChoices({ type, items }: Schema): boolean {
  return type === 'array' && (items?.anyOf ?? items?.enum) !== undefined;
}

function optionsOf(field: Schema): QuestionField['options'] {
  if (field.type === 'boolean')
    return [
      ['true', 'yes'],
      ['false', 'no'],
    ];
  const titled = field.oneOf ?? field.items?.anyOf;
  if (titled !== undefined) return titled.map(({ const: value, title }) => [value, title ?? value]);
  if (field.items?.enum !== undefined) return field.items.enum.map((value) => [value, value]);
  return field.enum?.map((value, index) => [value, field.enumNames?.[index] ?? value]);
}

function valueOf(field: Schema, text: string): unknown {
  if (field.type === 'boolean') return text === 'true';
  if (isNumber(field)) return Number(text);
  if (isListOfChoices(field)) return listItemsOf(text);
  return field.type === 'array' ? text.split(',').map((each) => each.trim()) : text;
}

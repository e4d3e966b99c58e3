/**
 * Builds the form fields for a question, and reads the answer from the completed form. Pure. For multiple choice, each
 * choice has a checkbox of its own, because older MCP clients have no multi-select fields. If the question has a
 * schema, the form has the fields of the schema.
 *
 * Titles, descriptions, choices and field names are untrusted text, so the form shows them escaped. `parseFormAnswer`
 * converts the escaped names back.
 */
import { z } from 'zod';
import type { Answer, Choice, FormSchema, Question } from '../../shared/protocol/question.ts';
import { visibleLine } from '../../shared/text/visible-text.ts';
import type { FormField, FormFields, TextField } from './form-field.ts';
import { fitsFormField } from './form-rows.ts';

/** The name of the field for a free-text answer beside the choices. */
const OTHER_FIELD = 'other';

export function formFieldsOfQuestion(question: Question): FormFields {
  const { schema, choices, multiple, freeText } = question;
  if (schema !== undefined) return formFields(schema);
  if (choices === undefined) return { properties: { answer: ANSWER }, required: ['answer'] };
  const other: Record<string, FormField> = freeText
    ? { [OTHER_FIELD]: { type: 'string', title: 'In other words', description: 'Instead of a choice.' } }
    : {};
  if (multiple) {
    const ticks = choices.map(({ label, description }, index): [string, FormField] => [
      tickOf(index),
      { type: 'boolean', ...titleAndDescription({ title: label, description }), default: false },
    ]);
    return { properties: { ...Object.fromEntries(ticks), ...other } };
  }
  const answer: FormField = { ...ANSWER, ...choiceField(choices) };
  return { properties: { answer, ...other }, ...(freeText ? {} : { required: ['answer'] }) };
}

const ANSWER = { type: 'string', title: 'Answer' } as const;

function choiceField(choices: readonly Choice[]): { enum: string[]; enumNames?: string[] } {
  const names = namesOf(choices.map(({ label }) => label));
  if (choices.every(({ description }) => description === undefined)) return { enum: names };
  const told = choices.map(({ description }, at) => {
    const name = names[at] ?? '';
    return description === undefined ? name : `${name}: ${visibleLine(description)}`;
  });
  return { enum: names, enumNames: told };
}

/**
 * Returns true if a client shows every title, description and choice of these fields in full. D5: a person decides only
 * on what is shown in full.
 */
export function canShowFieldsInFull({ properties }: FormFields, columns: number): boolean {
  return Object.entries(properties).every(([name, field]) => {
    const names = 'enumNames' in field ? field.enumNames : undefined;
    const choices = field.type === 'array' ? field.items.enum : 'enum' in field ? (names ?? field.enum) : [];
    return [field.title ?? name, field.description ?? '', ...choices].every((text) =>
      fitsFormField(text, columns),
    );
  });
}

/**
 * Reads the answer from the completed form. The agent validates the answer. Returns undefined if the person filled in
 * no field.
 */
export function parseFormAnswer(
  { schema, choices, multiple }: Question,
  content: Readonly<Record<string, unknown>>,
): Answer | undefined {
  const filled = Object.fromEntries(Object.entries(content).filter(([, value]) => isFilled(value)));
  if (schema !== undefined) return toPropertyNames(schema, filled);
  const other = words.safeParse(filled[OTHER_FIELD]).data;
  if (choices !== undefined && multiple) {
    const ticked = choices.flatMap(({ label }, index) => (filled[tickOf(index)] === true ? [label] : []));
    const all = [...ticked, ...(other === undefined ? [] : [other])];
    return all.length === 0 ? undefined : all;
  }
  const answer = words.safeParse(filled['answer']).data;
  const labels = (choices ?? []).map(({ label }) => label);
  return other ?? (answer === undefined ? undefined : z.string().parse(valueOf(labels, answer)));
}

const words = z.string().min(1);

/** Returns false for an empty field. Clients send it as undefined, null or ''. */
function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function tickOf(index: number): string {
  return `choice${String(index + 1)}`;
}

/**
 * Returns the names that the form shows for the values. If a name occurs again, it gets a number in brackets `⟨ ⟩`.
 * Other names cannot contain these brackets, because the form escapes them in untrusted text.
 */
function namesOf(values: readonly string[]): string[] {
  const names = values.map((value) => visibleLine(value));
  return names.map((name, at) => {
    const before = names.slice(0, at).filter((other) => other === name).length;
    return before === 0 ? name : `${name} ⟨${String(before + 1)}⟩`;
  });
}

/** Returns the value whose name the person chose. An unknown name is returned unchanged. The agent then refuses it. */
function valueOf(values: readonly string[], name: unknown): unknown {
  const at = namesOf(values).findIndex((each) => each === name);
  return values[at] ?? name;
}

function titleAndDescription({
  title,
  description,
}: {
  title?: string | undefined;
  description?: string | undefined;
}): {
  title?: string;
  description?: string;
} {
  return {
    ...(title !== undefined && { title: visibleLine(title) }),
    ...(description !== undefined && { description: visibleLine(description) }),
  };
}

const PLAIN_NAME = /^[A-Za-z][\w.-]{0,39}$/;

/**
 * Returns the name of the form field for each property of the schema. A client shows this name if the field has no
 * title. So if one of the names is not plain text, all fields are named `field1`, `field2` …
 */
function fieldNames({ properties }: FormSchema): ReadonlyMap<string, string> {
  const names = Object.keys(properties);
  const plain = names.every((name) => PLAIN_NAME.test(name));
  return new Map(names.map((name, at) => [name, plain ? name : `field${String(at + 1)}`]));
}

function formFields(schema: FormSchema): FormFields {
  const names = fieldNames(schema);
  const fields = Object.entries(schema.properties).map(([name, field]): [string, FormField] => {
    const shown = names.get(name) ?? name;
    const made = fieldOf(field);
    return [shown, shown === name || made.title !== undefined ? made : { ...made, title: visibleLine(name) }];
  });
  const required = schema.required?.flatMap((name) => names.get(name) ?? []);
  return { properties: Object.fromEntries(fields), ...(required && { required }) };
}

/** Converts the names of the form fields back to the property names of the schema. */
function toPropertyNames(
  schema: FormSchema,
  filled: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const original = new Map([...fieldNames(schema)].map(([name, shown]) => [shown, name]));
  return Object.fromEntries(
    Object.entries(filled).map(([shown, value]) => {
      const name = original.get(shown) ?? shown;
      const field = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
      const values = field === undefined ? [] : valuesOf(field);
      return [
        name,
        Array.isArray(value) ? value.map((each) => valueOf(values, each)) : valueOf(values, value),
      ];
    }),
  );
}

type SchemaField = FormSchema['properties'][string];

/** Returns the values that a person can choose in this field. */
function valuesOf({ type, items, oneOf, enum: values }: SchemaField): readonly string[] {
  if (type === 'array') return items?.enum ?? items?.anyOf?.map((one) => one.const) ?? [];
  return type === 'string' ? (oneOf?.map((one) => one.const) ?? values ?? []) : [];
}

function fieldOf(field: SchemaField): FormField {
  const about = titleAndDescription(field);
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
      const { minItems, maxItems } = field;
      const range = {
        ...(minItems !== undefined && { minItems }),
        ...(maxItems !== undefined && { maxItems }),
      };
      return { ...about, type: 'array', items: { type: 'string', enum: namesOf(valuesOf(field)) }, ...range };
    }
    case 'string':
      return { ...about, ...textField(field) };
  }
}

function textField(field: SchemaField): TextField {
  const { oneOf, enumNames, format, minLength, maxLength, default: preset } = field;
  const values = valuesOf(field);
  if (oneOf !== undefined || field.enum !== undefined) {
    const titles = oneOf?.map((one) => one.title ?? one.const) ?? enumNames;
    const names = namesOf(values);
    const chosen = names[values.findIndex((value) => value === preset)];
    return {
      type: 'string',
      enum: names,
      ...(titles && { enumNames: namesOf(titles) }),
      ...(chosen !== undefined && { default: chosen }),
    };
  }
  return {
    type: 'string',
    ...(format !== undefined && { format }),
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
    // A default may be in the form only if the form shows it in full.
    ...defaultOf(
      z.string().refine((text) => visibleLine(text) === text && fitsFormField(text)),
      preset,
    ),
  };
}

function defaultOf<Value>(schema: z.ZodType<Value>, value: unknown): { default?: Value } {
  const parsed = schema.safeParse(value);
  return parsed.success ? { default: parsed.data } : {};
}

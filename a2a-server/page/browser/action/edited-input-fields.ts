/**
 * Converts a tool's JSON Schema and a proposed input to the fields of a form, and the filled form to an input. Pure.
 * The server checks the input again. A field whose text is unchanged keeps its value exactly.
 */
import { fieldOf, isRecord } from '../../../../shared/runtime/record.ts';
import { countWithNoun } from '../../../../shared/text/one-line.ts';
import { visibleJson, visibleLine, visibleText } from '../../../../shared/text/visible-text.ts';

type Input = Readonly<Record<string, unknown>>;

/** The control of one field. `json` accepts every value. The options of a `choice` are JSON texts. */
type FieldControl =
  | { type: 'line' | 'lines'; minLength: number; maxLength: number }
  | { type: 'number'; whole: boolean; minimum: number; maximum: number }
  | { type: 'choice'; options: readonly { value: string; label: string }[] }
  | { type: 'json' };

export interface InputField {
  name: string;
  label: string;
  description: string;
  required: boolean;
  /** True if the schema allows null. If a required field is empty, its value is then null. */
  nullable: boolean;
  control: FieldControl;
  /** The text of the proposed value. '' if there is no proposed value. */
  text: string;
}

/** The texts in the form, by field name. */
export type FieldTexts = ReadonlyMap<string, string>;

export type FilledInput =
  | { type: 'valid'; input: Record<string, unknown> }
  /** The problems of the invalid fields, by field name. */
  | { type: 'invalid'; problems: ReadonlyMap<string, string> };

/** The maximum number of fields in a form. In a longer form, a person would not find a field. */
const MAX_FIELDS = 50;
const MAX_OPTIONS = 200;
const MAX_DESCRIPTION_CHARS = 600;
/** The maximum length of a text in a field of one line. A longer text has a field of several lines. */
const MAX_LINE_CHARS = 80;

/**
 * Returns a field for each property of the schema and of the input. Returns undefined if the schema has no
 * `properties`, or if there are no fields or too many.
 */
export function inputFields(schema: unknown, input: Input): InputField[] | undefined {
  const properties = fieldOf(schema, 'properties');
  if (!isRecord(properties)) return undefined;
  const required = fieldOf(schema, 'required');
  // Inherited names such as `constructor` are ignored, because the schema may come from a server that is not trusted.
  const names = new Set([...Object.keys(properties), ...Object.keys(input)]);
  if (names.size === 0 || names.size > MAX_FIELDS) return undefined;
  return [...names].map((name) =>
    inputField(name, Object.hasOwn(properties, name) ? properties[name] : undefined, {
      required: Array.isArray(required) && required.includes(name),
      value: Object.hasOwn(input, name) ? input[name] : undefined,
    }),
  );
}

/** @param value undefined if the input does not have the property */
function inputField(
  name: string,
  declared: unknown,
  { required, value }: { required: boolean; value: unknown },
): InputField {
  const { schema, nullable } = withoutNull(declared);
  const wanted = controlOf(schema, value);
  const text = value === null && nullable ? '' : textOf(wanted, value);
  const control: FieldControl = text === undefined ? { type: 'json' } : wanted;
  const title = fieldOf(declared, 'title');
  const description = fieldOf(declared, 'description');
  return {
    name,
    // Two properties may have the same title, so the label always contains the name.
    label:
      typeof title === 'string' && title !== '' && title !== name
        ? visibleLine(`${title} (${name})`, 200)
        : visibleLine(name, 200),
    description:
      typeof description === 'string' ? visibleText(description.slice(0, MAX_DESCRIPTION_CHARS)) : '',
    required,
    nullable,
    control,
    text: text ?? jsonText(value),
  };
}

/**
 * If the schema allows null and one other type, returns the schema of the other type. An example is `{"anyOf":
 * [{"type": "string"}, {"type": "null"}]}`.
 */
function withoutNull(schema: unknown): { schema: unknown; nullable: boolean } {
  const type = fieldOf(schema, 'type');
  if (isRecord(schema) && Array.isArray(type) && type.includes('null')) {
    const [only, ...others] = type.filter((each) => each !== 'null');
    return { schema: { ...schema, type: others.length === 0 ? only : type }, nullable: true };
  }
  const alternatives = fieldOf(schema, 'anyOf') ?? fieldOf(schema, 'oneOf');
  if (!Array.isArray(alternatives)) return { schema, nullable: false };
  const [only, ...others] = alternatives.filter((each) => fieldOf(each, 'type') !== 'null');
  const nullable = others.length + 1 < alternatives.length;
  return { schema: nullable && others.length === 0 ? only : schema, nullable };
}

function controlOf(schema: unknown, value: unknown): FieldControl {
  const choices = choicesOf(schema);
  if (choices !== undefined) return { type: 'choice', options: choices };
  const number = (name: string, otherwise: number): number => {
    const found = fieldOf(schema, name);
    return typeof found === 'number' ? found : otherwise;
  };
  const type = fieldOf(schema, 'type');
  switch (type) {
    case 'boolean':
      return {
        type: 'choice',
        options: [
          { value: 'true', label: 'yes' },
          { value: 'false', label: 'no' },
        ],
      };
    case 'number':
    case 'integer':
      return {
        type: 'number',
        whole: type === 'integer',
        minimum: number('minimum', -Infinity),
        maximum: number('maximum', Infinity),
      };
    case 'string': {
      const maxLength = number('maxLength', Infinity);
      const isLong = typeof value === 'string' && (value.length > MAX_LINE_CHARS || value.includes('\n'));
      // X3: the schema's `pattern` is not used, because a hostile pattern could block the page.
      return { type: isLong ? 'lines' : 'line', minLength: number('minLength', 0), maxLength };
    }
    default:
      return { type: 'json' };
  }
}

function choicesOf(schema: unknown): { value: string; label: string }[] | undefined {
  const values = fieldOf(schema, 'enum');
  if (Array.isArray(values)) return optionsOf(values.map((value: unknown) => [value, undefined]));
  const titled = fieldOf(schema, 'oneOf') ?? fieldOf(schema, 'anyOf');
  if (!Array.isArray(titled) || !titled.every((each) => isRecord(each) && Object.hasOwn(each, 'const')))
    return undefined;
  return optionsOf(titled.map((each) => [fieldOf(each, 'const'), fieldOf(each, 'title')]));
}

function optionsOf(
  values: readonly (readonly [value: unknown, title: unknown])[],
): { value: string; label: string }[] | undefined {
  if (values.length === 0 || values.length > MAX_OPTIONS) return undefined;
  return values.map(([value, title]) => {
    const words = visibleLine(typeof value === 'string' ? value : JSON.stringify(value), 200);
    return {
      value: JSON.stringify(value),
      label: typeof title === 'string' && title !== value ? `${visibleLine(title, 200)} (${words})` : words,
    };
  });
}

/** Returns the text of a value. Returns undefined if the control cannot show the value exactly. */
function textOf(control: FieldControl, value: unknown): string | undefined {
  if (value === undefined) return '';
  switch (control.type) {
    case 'line':
    case 'lines':
      // D5: an HTML field changes CR line breaks and hides some characters. A value that contains them is edited as
      // JSON. So is the value '', because an empty field means no value.
      return typeof value === 'string' &&
        value !== '' &&
        !value.includes('\r') &&
        visibleText(value) === value
        ? value
        : undefined;
    case 'number':
      return typeof value === 'number' ? JSON.stringify(value) : undefined;
    case 'choice':
      return control.options.map((option) => option.value).find((each) => each === JSON.stringify(value));
    case 'json':
      return jsonText(value);
  }
}

function jsonText(value: unknown): string {
  return visibleJson(JSON.stringify(value, null, 2));
}

/**
 * Returns the input that the person has filled in. If the person empties a proposed text, the value is the empty text,
 * unless the schema allows null. Any other empty optional field is left out. An empty required field is null if the
 * schema allows null. Otherwise it is an error.
 */
export function inputOfFields(
  fields: readonly InputField[],
  texts: FieldTexts,
  proposed: Input,
): FilledInput {
  const problems = new Map<string, string>();
  const values = new Map<string, unknown>();
  for (const field of fields) {
    const { name, required, nullable } = field;
    const text = texts.get(name) ?? field.text;
    if (text === field.text && Object.hasOwn(proposed, name)) values.set(name, proposed[name]);
    else if (text === '' && !isEmptiedText(field, proposed)) {
      if (required && nullable) values.set(name, null);
      else if (required) problems.set(name, 'This field is required.');
    } else {
      const value = valueOf(field.control, text);
      if ('problem' in value) problems.set(name, value.problem);
      else values.set(name, value.value);
    }
  }
  if (problems.size > 0) return { type: 'invalid', problems };
  // The fields keep the order of the proposed input, so that a comparison shows only the person's changes.
  const names = new Set([...Object.keys(proposed), ...values.keys()]);
  const entries = [...names].flatMap((name) => (values.has(name) ? [[name, values.get(name)]] : []));
  return { type: 'valid', input: Object.fromEntries(entries) };
}

function isEmptiedText({ name, nullable, control }: InputField, proposed: Input): boolean {
  const isText = control.type === 'line' || control.type === 'lines';
  return isText && !nullable && Object.hasOwn(proposed, name);
}

function valueOf(control: FieldControl, text: string): { value: unknown } | { problem: string } {
  switch (control.type) {
    case 'line':
    case 'lines': {
      // JSON Schema counts characters, not UTF-16 units.
      const { length } = Array.from(text);
      if (length < control.minLength)
        return { problem: `Write at least ${countWithNoun(control.minLength, 'character')}, not ${length}.` };
      if (length > control.maxLength)
        return { problem: `Write at most ${countWithNoun(control.maxLength, 'character')}, not ${length}.` };
      return { value: text };
    }
    case 'number': {
      const value = text.trim() === '' ? NaN : Number(text);
      if (!Number.isFinite(value)) return { problem: 'Write a number.' };
      if (control.whole && !Number.isInteger(value)) return { problem: 'Write a whole number.' };
      if (value < control.minimum) return { problem: `Write a number of at least ${control.minimum}.` };
      if (value > control.maximum) return { problem: `Write a number of at most ${control.maximum}.` };
      return { value };
    }
    case 'choice':
    case 'json':
      return parsedJson(text);
  }
}

function parsedJson(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return {
      problem: `This is not valid JSON: ${visibleLine(error instanceof Error ? error.message : '', 200)}`,
    };
  }
}

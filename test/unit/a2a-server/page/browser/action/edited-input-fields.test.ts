import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  inputFields,
  inputOfFields,
  type FilledInput,
  type InputField,
} from '../../../../../../a2a-server/page/browser/action/edited-input-fields.ts';

type Json = Record<string, unknown>;

const fieldsOf = (properties: Json, input: Json = {}, required: string[] = []): InputField[] =>
  inputFields({ type: 'object', properties, required }, input) ?? [];

/** Fills in the only field of a schema. */
function filled(
  schema: Json,
  text: string,
  { value, required = false }: { value?: unknown; required?: boolean } = {},
): FilledInput {
  const input = value === undefined ? {} : { a: value };
  return inputOfFields(fieldsOf({ a: schema }, input, required ? ['a'] : []), new Map([['a', text]]), input);
}
const valid = (input: Json): FilledInput => ({ type: 'valid', input });
const invalid = (problem: string): FilledInput => ({ type: 'invalid', problems: new Map([['a', problem]]) });

const scalar = fc.oneof(
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const anySchema = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    true,
    null,
    7,
    { type: 'string' },
    { type: 'string', title: 'T', description: 'D', pattern: '(a+)+$' },
    { type: 'string', minLength: 3 },
    { type: ['integer', 'null'], minimum: 1 },
    { type: ['string', 'number'] },
    { type: 'boolean' },
    { enum: ['a', 1, null] },
    { anyOf: [{ type: 'number' }, { type: 'null' }] },
    { oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] },
    { type: 'object', properties: {} },
    { $ref: '#/nowhere' },
  ),
  fc.jsonValue(),
);
const names = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'toString');

describe('the fields of a form for a JSON Schema', () => {
  it('give back exactly the proposed input if the person changes nothing, for every schema and input', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(names, anySchema), { maxLength: 6 }),
        fc.array(fc.tuple(names, fc.oneof(scalar, fc.jsonValue())), { maxLength: 6 }),
        (schemas, values) => {
          // The values come from JSON, as on the page.
          const input: Json = JSON.parse(JSON.stringify(Object.fromEntries(values)));
          const properties: unknown = JSON.parse(JSON.stringify(Object.fromEntries(schemas)));
          const fields = inputFields({ type: 'object', properties }, input);
          if (fields === undefined) return;
          const back = inputOfFields(fields, new Map(), input);
          expect(back.type === 'valid' && JSON.stringify(back.input)).toBe(JSON.stringify(input));
        },
      ),
    );
  });

  it('do not exist for a schema without properties or with very many', () => {
    expect(inputFields(null, {})).toBeUndefined();
    expect(inputFields({ type: 'object' }, { a: 1 })).toBeUndefined();
    expect(inputFields({ type: 'object', properties: {} }, {})).toBeUndefined();
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`p${at}`, { type: 'string' }]));
    expect(inputFields({ type: 'object', properties: many }, {})).toBeUndefined();
  });

  it('have a label with the name, and every property of the input, also one that the schema does not have', () => {
    const fields = fieldsOf(
      { a: { type: 'string', title: 'Colour' }, b: { type: 'string', title: 'b' } },
      { z: 1 },
      ['a'],
    );
    expect(fields.map(({ label, required, control }) => [label, required, control.type])).toEqual([
      ['Colour (a)', true, 'line'],
      ['b', false, 'line'],
      ['z', false, 'json'],
    ]);
  });

  it('turn a proposed text that the person empties into the empty text', () => {
    expect(filled({ type: 'string' }, '', { value: 'x' })).toEqual(valid({ a: '' }));
    expect(filled({ type: 'string', minLength: 1 }, '', { value: 'x' })).toEqual(
      invalid('Write at least 1 character, not 0.'),
    );
  });

  it('leave out an empty optional field; an empty required field is null or a problem', () => {
    expect(filled({ type: 'number' }, '', { value: 1 })).toEqual(valid({}));
    expect(filled({ type: 'number' }, '', { value: 1, required: true })).toEqual(
      invalid('This field is required.'),
    );
    expect(filled({ type: ['string', 'null'] }, '', { value: 'x', required: true })).toEqual(
      valid({ a: null }),
    );
  });

  it.each<[Json, string, FilledInput]>([
    [{ type: 'integer' }, '7', valid({ a: 7 })],
    [{ type: 'integer' }, '7.5', invalid('Write a whole number.')],
    [{ type: 'number' }, '1e3', valid({ a: 1000 })],
    [{ type: 'number' }, ' ', invalid('Write a number.')],
    [{ type: 'number' }, '1e999', invalid('Write a number.')],
    [{ type: 'number', minimum: 0 }, '-1', invalid('Write a number of at least 0.')],
    [{ type: 'string', maxLength: 1 }, '\u{1F600}', valid({ a: '\u{1F600}' })],
    [{ type: 'string', minLength: 2 }, '\u{1F600}', invalid('Write at least 2 characters, not 1.')],
    [{ type: 'string', maxLength: 1 }, 'ab', invalid('Write at most 1 character, not 2.')],
    [{ type: 'boolean' }, 'false', valid({ a: false })],
    [{ enum: ['1', 1] }, '1', valid({ a: 1 })],
    [{ enum: ['1', 1] }, '"1"', valid({ a: '1' })],
    [{ type: 'array' }, '[1]', valid({ a: [1] })],
  ])('of %p turn %p into its value or its problem', (schema, text, expected) => {
    expect(filled(schema, text)).toEqual(expected);
  });

  it('D5 show a text as JSON if a field would hide or change a character of it', () => {
    for (const value of ['a\r\nb', 'a\u202eb', '\u200b', '', 7])
      expect(fieldsOf({ a: { type: 'string' } }, { a: value })[0]?.control.type).toBe('json');
    expect(fieldsOf({ a: { type: 'string' } }, { a: 'a\u202eb' })[0]?.text).toBe('"a\\u202eb"');
    expect(fieldsOf({ a: { type: 'string' } }, { a: 'a\nb' })[0]?.control.type).toBe('lines');
  });
});

import { describe, expect, test } from '@jest/globals';
import { formFieldsOfQuestion, parseFormAnswer } from '../../../../bridge/approvals/answer-fields.ts';
import type { Question } from '../../../../shared/protocol/question.ts';

const choices = [{ label: 'red' }, { label: 'blue', description: 'as the sky' }];
const WORDS: Question = { text: 'Why?' };
const ONE: Question = { text: 'Which?', choices };
const OPEN: Question = { ...ONE, freeText: true };
const MANY: Question = { ...ONE, multiple: true, freeText: true };

const text = { type: 'string', title: 'Answer' };
const one = { ...text, enum: ['red', 'blue'], enumNames: ['red', 'blue: as the sky'] };
const other = { type: 'string', title: 'In other words', description: 'Instead of a choice.' };

describe('the form fields of a question', () => {
  test.each<[string, Question, object]>([
    ['free text', WORDS, { properties: { answer: text }, required: ['answer'] }],
    ['one of the choices', ONE, { properties: { answer: one }, required: ['answer'] }],
    ['a choice or free text', OPEN, { properties: { answer: one, other } }],
    [
      'several choices, a checkbox each',
      MANY,
      {
        properties: {
          choice1: { type: 'boolean', title: 'red', default: false },
          choice2: { type: 'boolean', title: 'blue', description: 'as the sky', default: false },
          other,
        },
      },
    ],
  ])('the fields for %s have the expected schema', (_, question, fields) => {
    expect(formFieldsOfQuestion(question)).toEqual(fields);
  });

  test('a form from the agent has its own fields, in a schema that every client accepts', () => {
    const schema: Question['schema'] = {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Name', minLength: 1, maxLength: 9, default: 'Ada' },
        mail: { type: 'string', description: 'Where to', format: 'email', default: 7 },
        age: { type: 'integer', minimum: 0, maximum: 150, default: 36 },
        sure: { type: 'boolean', default: true },
        size: { type: 'string', enum: ['s', 'm'], enumNames: ['Small', 'Middle'] },
        colour: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }, { const: 'b' }] },
        days: {
          type: 'array',
          items: { anyOf: [{ const: 'mo' }, { const: 'tu' }] },
          minItems: 1,
          maxItems: 2,
        },
      },
      required: ['name'],
    };
    expect(formFieldsOfQuestion({ text: 'Fill in.', schema })).toEqual({
      properties: {
        name: { type: 'string', title: 'Name', minLength: 1, maxLength: 9, default: 'Ada' },
        mail: { type: 'string', description: 'Where to', format: 'email' },
        age: { type: 'integer', minimum: 0, maximum: 150, default: 36 },
        sure: { type: 'boolean', default: true },
        size: { type: 'string', enum: ['s', 'm'], enumNames: ['Small', 'Middle'] },
        colour: { type: 'string', enum: ['r', 'b'], enumNames: ['Red', 'b'] },
        days: { type: 'array', items: { type: 'string', enum: ['mo', 'tu'] }, minItems: 1, maxItems: 2 },
      },
      required: ['name'],
    });
  });
});

describe('the answer in the completed fields', () => {
  test.each<[Question, Record<string, unknown>, unknown]>([
    [WORDS, { answer: 'so' }, 'so'],
    [WORDS, { answer: '' }, undefined],
    [WORDS, { answer: 7 }, undefined],
    [ONE, { answer: 'red' }, 'red'],
    [ONE, {}, undefined],
    [OPEN, { answer: null, other: 'green' }, 'green'],
    [OPEN, { answer: 'red', other: '' }, 'red'],
    [MANY, { choice1: true, choice2: false }, ['red']],
    [MANY, { choice1: true, choice2: 'true', other: 'green' }, ['red', 'green']],
    [MANY, { choice1: false, other: null }, undefined],
    [
      { text: 'x', schema: { type: 'object', properties: {} } },
      { a: 1, b: '', c: null, d: false },
      { a: 1, d: false },
    ],
  ])('for the question %j, the fields %j give the answer %j', (question, content, answer) => {
    expect(parseFormAnswer(question, content)).toEqual(answer);
  });
});

import { describe, expect, it } from '@jest/globals';
import { parseAnswer } from '../../../../a2a-server/task/check-answer.ts';
import type { Answer, Question } from '../../../../shared/protocol/question.ts';

const labels = (...names: string[]) => names.map((label) => ({ label }));
const ONE: Question = { text: 'Which?', choices: labels('red', 'light, blue') };
const MANY: Question = { ...ONE, multiple: true };
const OPEN: Question = { ...ONE, freeText: true };
const WORDS: Question = { text: 'Why?' };
const form = (properties: NonNullable<Question['schema']>['properties']): Question => ({
  text: 'Fill in.',
  schema: { type: 'object', properties, required: Object.keys(properties) },
});

describe('the answer to a question', () => {
  it.each<[Question, Answer, Answer]>([
    [WORDS, ' so ', ' so '],
    [ONE, ' red\n', 'red'],
    [ONE, ['red'], 'red'],
    [ONE, 'light, blue', 'light, blue'],
    [MANY, 'light, blue', ['light, blue']],
    [MANY, 'red, red', ['red']],
    [MANY, ['red', 'light, blue'], ['red', 'light, blue']],
    [OPEN, 'red', 'red'],
    [OPEN, 'something green', 'something green'],
    [OPEN, ' something green ', ' something green '],
    [{ ...MANY, freeText: true }, 'red and green', ['red and green']],
    [{ ...MANY, freeText: true }, ['red', 'green'], ['red', 'green']],
    [form({ name: { type: 'string' } }), ' Ada ', { name: 'Ada' }],
    [form({ age: { type: 'integer' } }), '36', { age: 36 }],
    [form({ sure: { type: 'boolean' } }), { sure: true }, { sure: true }],
    [
      form({ of: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } } }),
      { of: ['a'] },
      { of: ['a'] },
    ],
  ])('for the question %j, the input %j becomes the answer %j', (question, given, answer) => {
    expect(parseAnswer(question, given)).toEqual({ ok: true, answer });
  });

  it.each<[Question, Answer]>([
    [WORDS, '  '],
    [WORDS, ['so']],
    [WORDS, { why: 'so' }],
    [ONE, ''],
    [ONE, 'Red'],
    [ONE, 'red, light, blue'],
    [ONE, []],
    [ONE, ['red', 'light, blue']],
    [ONE, { red: true }],
    [MANY, 'red, green'],
    [MANY, []],
    [OPEN, ''],
    [form({ name: { type: 'string' }, age: { type: 'integer' } }), 'Ada'],
    [form({ age: { type: 'integer' } }), 'many'],
    [form({ mail: { type: 'string', format: 'email' } }), { mail: 'nobody' }],
    [form({ colour: { type: 'string', oneOf: [{ const: 'red' }] } }), { colour: 'blue' }],
    [form({ age: { type: 'number', minimum: 0 } }), { age: -1 }],
    [form({ name: { type: 'string' } }), { name: 'Ada', more: 1 }],
    [form({ name: { type: 'string' } }), ['Ada']],
    [form({ name: { type: 'string', default: 'Ada' } }), {}],
  ])('for the question %j, the answer %j is refused, and the error gives the reason', (question, given) => {
    expect(parseAnswer(question, given)).toEqual({ ok: false, message: expect.stringMatching(/\.$/) });
  });
});

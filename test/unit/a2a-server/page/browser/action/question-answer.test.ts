import { describe, expect, test } from '@jest/globals';
import { formSchema } from '../../../../../../shared/protocol/question.ts';
import {
  answerFromForm,
  questionFields,
  type FilledForm,
  type QuestionPreview,
  withListItem,
} from '../../../../../../a2a-server/page/browser/action/question-answer.ts';

const filled = (more: Partial<FilledForm> = {}): FilledForm => ({
  chosen: [],
  text: '',
  values: {},
  ...more,
});

describe('an answer to a question', () => {
  const open: QuestionPreview = { type: 'question', text: 'Why?' };
  const choices: QuestionPreview = { ...open, choices: [{ label: 'a' }, { label: 'b' }] };
  const form: QuestionPreview = {
    ...open,
    schema: {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Name' },
        age: { type: 'integer' },
        ready: { type: 'boolean' },
        size: { type: 'string', enum: ['s', 'l'], enumNames: ['small', 'large'] },
      },
      required: ['name'],
    },
  };

  test('the answer is the typed text or the choice; several choices are a list', () => {
    expect(answerFromForm(open, filled({ text: ' so ' }))).toBe('so');
    expect(answerFromForm(choices, filled({ chosen: ['b'] }))).toBe('b');
    expect(answerFromForm({ ...choices, multiple: true }, filled({ chosen: ['b', 'a'] }))).toEqual([
      'b',
      'a',
    ]);
  });

  test('a text is one more of several choices; without several, the choice is the answer', () => {
    const both = filled({ chosen: ['b'], text: ' but dark ' });
    expect(answerFromForm({ ...choices, multiple: true, freeText: true }, both)).toEqual(['b', 'but dark']);
    expect(answerFromForm({ ...choices, freeText: true }, both)).toBe('b');
  });

  test('there is no answer while the person has entered nothing, or a required field is empty', () => {
    expect(answerFromForm(open, filled({ text: ' ' }))).toBeUndefined();
    expect(answerFromForm(choices, filled())).toBeUndefined();
    expect(answerFromForm(form, filled({ values: { age: '3' } }))).toBeUndefined();
  });

  test('the answer to a form has its values by name, each with its type; empty fields are absent', () => {
    const values = { name: 'Ada', age: '36', ready: 'false', size: '' };
    expect(answerFromForm(form, filled({ values }))).toEqual({ name: 'Ada', age: 36, ready: false });
  });

  test('X3 a field may have the name of an inherited property', () => {
    const properties = { constructor: { type: 'string' }, toString: { type: 'array' } } as const;
    const hostile: QuestionPreview = { ...open, schema: { type: 'object', properties } };
    expect(answerFromForm(hostile, filled())).toEqual({});
    const values = { constructor: 'Ada', toString: 'a, b' };
    expect(answerFromForm(hostile, filled({ values }))).toEqual({ constructor: 'Ada', toString: ['a', 'b'] });
  });

  test('D5 a list shows its choices, and a choice may contain a comma', () => {
    const days = { type: 'array', items: { enum: ['Monday', 'Sunday, noon'] } };
    const sizes = { type: 'array', items: { anyOf: [{ const: 's', title: 'small' }, { const: 'l' }] } };
    const schema = formSchema.parse({ type: 'object', properties: { days, sizes } });
    const lists: QuestionPreview = { ...open, schema };
    expect(questionFields(lists)).toMatchObject([
      {
        type: 'list',
        options: [
          ['Monday', 'Monday'],
          ['Sunday, noon', 'Sunday, noon'],
        ],
      },
      {
        type: 'list',
        options: [
          ['s', 'small'],
          ['l', 'l'],
        ],
      },
    ]);
    const two = withListItem(withListItem('', 'Sunday, noon', true), 'Monday', true);
    const answer = answerFromForm(lists, filled({ values: { days: two } }));
    expect(answer).toEqual({ days: ['Sunday, noon', 'Monday'] });
    const none = withListItem(withListItem('', 'Monday', true), 'Monday', false);
    expect(answerFromForm(lists, filled({ values: { days: none } }))).toEqual({});
  });

  test('the form shows the labels of its fields and the choices', () => {
    expect(questionFields(form)).toMatchObject([
      { name: 'name', title: 'Name', type: 'text' },
      { name: 'age', title: 'age', type: 'number' },
      {
        name: 'ready',
        options: [
          ['true', 'yes'],
          ['false', 'no'],
        ],
      },
      {
        name: 'size',
        options: [
          ['s', 'small'],
          ['l', 'large'],
        ],
      },
    ]);
  });
});

import { describe, expect, test } from '@jest/globals';
import {
  answerFromForm,
  formFieldsOfQuestion,
  type FilledForm,
  type QuestionPreview,
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

  test('the form shows the labels of its fields and the choices', () => {
    expect(formFieldsOfQuestion(form)).toMatchObject([
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

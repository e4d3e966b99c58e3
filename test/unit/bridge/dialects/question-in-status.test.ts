import { describe, expect, test } from '@jest/globals';
import { TaskState, type TaskStatus } from '@a2a-js/sdk';
import type { Part } from '@a2a-js/sdk';
import { urlsOutsideTextParts } from '../../../../bridge/dialects/urls-outside-text-parts.ts';
import { phraseAnswer, questionOf } from '../../../../bridge/dialects/question-in-status.ts';
import {
  answerAsJsonObject,
  missingRequiredFields,
  questionWithCode,
  questionSchemaIn,
} from '../../../../bridge/dialects/plain-text-question.ts';
import { part, agentMessage } from '../../../support/fake-agent-task.ts';

const words = (value: string): Part => part({ $case: 'text', value });
const data = (value: unknown): Part => part({ $case: 'data', value });
const status = (state: TaskState, parts: Part[]): TaskStatus => ({
  state,
  timestamp: undefined,
  message: agentMessage(parts, { messageId: 'q' }),
});
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
/** Returns the answer to a question with this form. */
const answered = (text: string, form?: Record<string, unknown> | null) => {
  const question = questionWithCode({ id: 'q', text: '', ...(form !== undefined && { form }) });
  const { shown } = question;
  return phraseAnswer([{ type: 'answer', callId: 'q', shown, answer: text }], question);
};

describe('the question that an agent asks', () => {
  test('a question in text has no form; a question with data has a form, with the data’s schema if there is one', () => {
    const asks = TaskState.TASK_STATE_INPUT_REQUIRED;
    expect(questionOf(status(asks, [words('Who?')]), 't')).toEqual(
      questionWithCode({ id: 'q', text: 'Who?' }),
    );
    expect(questionOf(status(asks, [words('Who?'), data({ schema })]), 't')?.form).toEqual(schema);
    expect(questionOf(status(asks, [data([1])]), 't')?.form).toBeNull();
  });

  test('R69 a question can be a sign-in, with the addresses to open', () => {
    const asks = TaskState.TASK_STATE_AUTH_REQUIRED;
    const asked = questionOf(status(asks, [words('Sign in'), data({ url: 'https://id.example/' })]), 't');
    expect(asked?.text).toContain('To open in a browser: https://id.example/');
    expect(asked?.form).toBeUndefined();
    expect(questionOf(status(asks, []), 't')?.text).toContain('did not say where');
    expect(questionOf(status(TaskState.TASK_STATE_WORKING, [words('x')]), 't')).toBeNull();
  });
});

describe('the answer to an agent’s question', () => {
  test('an answer in text stays text, even if the question has a form', () => {
    expect(answered('Ada', schema).parts).toEqual([words('Ada')]);
    expect(answered('{"a":"x"}').parts).toEqual([words('{"a":"x"}')]);
  });

  test('an answer in JSON is sent as data if the question had data', () => {
    expect(answered(' {"a":"x"}', schema).parts).toEqual([data({ a: 'x' })]);
    expect(answered('{"b":1}', null).parts).toEqual([data({ b: 1 })]);
  });

  test('an answer without a required field is not sent', () => {
    expect(() => answered('{"b":1}', schema)).toThrow(/asks for "a" too; nothing was sent/);
  });

  test('an answer is sent as data only if it is an object', () => {
    expect(answerAsJsonObject('[1]')).toBeUndefined();
    expect(answerAsJsonObject('{"a":')).toBeUndefined();
    expect(answerAsJsonObject('null')).toBeUndefined();
    expect(missingRequiredFields({ a: 1 }, schema)).toEqual([]);
    expect(missingRequiredFields({}, {})).toEqual([]);
    expect(questionSchemaIn(schema)).toBe(schema);
    expect(questionSchemaIn({ schema: { type: 'string' } })).toBeNull();
    expect(questionSchemaIn('x')).toBeNull();
  });
});

describe('the addresses in an agent’s question', () => {
  test('the addresses are http or https, each once, from data and files', () => {
    const file = part({ $case: 'url', value: 'https://example.com/f' });
    const all = urlsOutsideTextParts([
      words('https://in.words/'),
      data({ a: ['https://a.example/', 'javascript:alert(1)', 'https://a.example/'], b: 'no address' }),
      file,
    ]);
    expect(all).toEqual(['https://a.example/', 'https://example.com/f']);
  });

  test('X3 the addresses are collected within limits from data of any depth and breadth', () => {
    let deep: unknown = 'https://deep.example/';
    for (let n = 0; n < 100_000; n += 1) deep = [deep];
    expect(urlsOutsideTextParts([data(deep)])).toEqual([]);
    const many = Array.from({ length: 1000 }, (_, n) => `https://example.com/${String(n)}`);
    expect(urlsOutsideTextParts([data(many)])).toHaveLength(5);
  });
});

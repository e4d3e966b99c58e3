import { describe, expect, test } from '@jest/globals';
import { Role, TaskState } from '@a2a-js/sdk';
import type { Part } from '@a2a-js/sdk';
import { phraseAnswer, questionOf } from '../../../../bridge/dialects/question-in-status.ts';
import type { PlainTextQuestion } from '../../../../bridge/dialects/plain-text-question.ts';
import { part } from '../../../support/fake-agent-task.ts';

const call = (id: string, name: string, args: object = { amount: 50 }): Part => ({
  ...part({ $case: 'data', value: { id, name, args } }),
  metadata: { adk_type: 'function_call', adk_is_long_running: true },
});
/** The agent's first response to the call, which only says that the call waits. */
const pending: Part = {
  ...part({ $case: 'data', value: { id: 'c1', name: 'ask', response: { status: 'pending' } } }),
  metadata: { adk_type: 'function_response' },
};

function asked(...parts: Part[]): PlainTextQuestion {
  const no = { metadata: undefined, extensions: [], referenceTaskIds: [] };
  const message = { messageId: 'q', contextId: 's', taskId: 't', role: Role.ROLE_AGENT, parts, ...no };
  const state = TaskState.TASK_STATE_INPUT_REQUIRED;
  const question = questionOf({ state, timestamp: undefined, message }, 't');
  if (question === null) throw new Error('the status asks nothing');
  return question;
}

function answered(question: PlainTextQuestion, answer: string): Part[] {
  const { id, shown } = question;
  return phraseAnswer([{ type: 'answer', callId: id, shown, answer }], question).parts;
}

const response = (id: string, name: string, value: object): Part => ({
  ...part({ $case: 'data', value: { id, name, response: value } }),
  metadata: { adk_type: 'function_response' },
});

describe('a question of an ADK agent', () => {
  test('the answer is the response to the function call that waits', () => {
    const question = asked(call('c1', 'ask'), pending);
    expect(answered(question, 'Blue')).toEqual([response('c1', 'ask', { result: 'Blue' })]);
    expect(answered(question, '{"status":"approved"}')).toEqual([
      response('c1', 'ask', { status: 'approved' }),
    ]);
  });

  test('D1 only a clear answer confirms a tool call, and the question says which', () => {
    const question = asked(call('c1', 'adk_request_confirmation'));
    expect(question.text).toContain('Answer {"confirmed": true} to run the call');
    expect(() => answered(question, 'yes')).toThrow(/nothing was sent\. Answer \{"confirmed": true\}/);
    expect(() => answered(question, '{"confirmed":"true"}')).toThrow(/nothing was sent/);
    expect(answered(question, '{"confirmed":true}')).toEqual([
      response('c1', 'adk_request_confirmation', { confirmed: true }),
    ]);
  });

  test.each([
    ['D3 two calls wait', [call('c1', 'ask'), call('c2', 'ask')]],
    ['the call asks for credentials', [call('c1', 'adk_request_credential')]],
    [
      'D5 the call is too long to show',
      [call('c1', 'adk_request_confirmation', { text: 'x'.repeat(50_000) })],
    ],
    ['the data is not of ADK', [part({ $case: 'data', value: { id: 'c1', name: 'ask' } })]],
  ])('if %s, the answer is not a function response', (_why, parts) => {
    expect(answered(asked(...parts), 'Blue')).toEqual([part({ $case: 'text', value: 'Blue' })]);
  });
});

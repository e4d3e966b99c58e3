import { describe, expect, test } from '@jest/globals';
import { decisionCommandLines, waysToDecideText } from '../../../../bridge/approvals/ways-to-decide.ts';

const approval = { shown: '3f9ac2d1', cut: 0, decisions: ['approve', 'deny'] as const };

describe('the command line that a person copies to decide', () => {
  test('R97 the command line contains the code of the shown action', () => {
    expect(decisionCommandLines({ pending: [approval], question: null }, 'mcp-a2a-bridge')).toEqual([
      'mcp-a2a-bridge approve 3f9ac2d1',
    ]);
  });

  test('R97 each action has its own command line, with its own code', () => {
    const pending = [approval, { ...approval, shown: '0b1c2d3e' }];
    expect(decisionCommandLines({ pending, question: null }, 'x')).toEqual([
      'x approve 3f9ac2d1',
      'x approve 0b1c2d3e',
    ]);
  });

  test('D5 the command line for an action that was shortened shows the action, and approves nothing', () => {
    const pending = [{ ...approval, cut: 1 }];
    expect(decisionCommandLines({ pending, question: null }, 'x')).toEqual(['x show 3f9ac2d1']);
  });

  test('the command line answers a question, even if the question is not a pending action', () => {
    const asks = { ...approval, decisions: ['answer', 'deny'] as const };
    expect(decisionCommandLines({ pending: [asks], question: null }, 'x')).toEqual([
      'x answer 3f9ac2d1 <words>',
    ]);
    const question = { shown: '0b1c2d3e' };
    expect(decisionCommandLines({ pending: [], question }, 'x')).toEqual(['x answer 0b1c2d3e <words>']);
  });

  test('the command line contains no agent text that the person’s shell would run', () => {
    const pending = [{ ...approval, shown: 'a; touch b' }];
    expect(decisionCommandLines({ pending, question: null }, 'x')).toEqual(["x approve 'a; touch b'"]);
  });

  test('there is no command line if no action is pending', () => {
    expect(decisionCommandLines({ pending: [], question: null }, 'x')).toEqual([]);
  });
});

describe('the sentence of a tool result about the other ways to decide', () => {
  const session = { id: 'session-77aa', agent: { name: 'team', url: 'http://x' }, view: undefined };
  const waiting = { pending: [approval, { ...approval, shown: '0b1c2d3e', cut: 1 }], question: null };

  test('each sentence names the program, also after an earlier result has named it', () => {
    expect(waysToDecideText(session, { waiting, program: 'x' })).toBe(
      'The person can also decide at a terminal with `x approve 3f9ac2d1` (or `show 0b1c2d3e`).',
    );
    expect(waysToDecideText(session, { waiting, program: 'x', brief: true })).toBe(
      'At a terminal: `x approve 3f9ac2d1` (or `show 0b1c2d3e`).',
    );
  });

  test('it is empty if nothing waits for a decision', () => {
    expect(waysToDecideText(session, { waiting: { pending: [], question: null }, program: 'x' })).toBe('');
  });
});

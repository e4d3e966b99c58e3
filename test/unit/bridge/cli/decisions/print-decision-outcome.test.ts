import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { printDecisionOutcome } from '../../../../../bridge/cli/decisions/print-decision-outcome.ts';
import type { Session } from '../../../../../bridge/sessions/session/session.ts';
import { fakeTerminal } from '../../../../support/fake-terminal.ts';

/** Returns the texts that are printed after the approval of the call `one`. */
function printedAfterApproval(view: object, asksOneByOne = true): string[] {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  const session = z.custom<Session>().parse({
    id: 's',
    agent: { name: 'a' },
    stateName: 'input-required',
    view: { taskId: 't', question: null, calls: [], pending: [], ...view },
    takeNotes: () => [],
    asksOneByOne,
  });
  printDecisionOutcome(fakeTerminal({ width: 40, say, explain: say }), session, [
    { callId: 'one', decision: 'approve' },
  ]);
  return said;
}

test.each([
  [false, 'Nothing runs until every pending action is decided.'],
  [true, 'An approved call runs at once'],
])('the report says when each decided call runs: %p', (asksOneByOne, words) => {
  const calls = [{ callId: 'one', title: 'Write a' }];
  const pending = [{ callId: 'two', title: 'Write b' }];
  const said = printedAfterApproval({ calls, pending }, asksOneByOne);
  expect(said[0]).toBe('Approved: one  Write a');
  expect(said.at(-1)).toContain(words);
});

test('a question of the agent after a decision is quoted, so none of its lines looks like the program’s', () => {
  const said = printedAfterApproval({ question: { text: 'Which one?\nDenied: two' } });
  expect(said[1]).toBe('The agent asks:\n│ Which one?\n│ Denied: two');
});

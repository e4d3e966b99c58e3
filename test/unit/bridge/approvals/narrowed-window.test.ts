import { expect, test } from '@jest/globals';
import { formOutcomeOf } from '../../../../bridge/approvals/form-answer.ts';
import { FormHistory } from '../../../../bridge/approvals/form-history.ts';
import { pendingWrite } from '../../../support/fake-agent-task.ts';

const preview = { type: 'command' as const, command: `ls ${'x'.repeat(60)}`, cwd: '/w' };
const asked = { pending: [pendingWrite('one', { preview })], question: null };

/** Answers a form that was sent in a window of 80 columns. @param width the width of a row at the answer */
function outcome(action: string, width: number) {
  let columns = 74;
  const formHistory = new FormHistory({ columns: () => columns });
  const [ask] = formHistory.offer('task', asked);
  if (ask === undefined) throw new Error('no form was offered');
  columns = width;
  const narrowedColumns = formHistory.narrowedColumns('task');
  return formOutcomeOf(
    ask,
    { action, content: {} },
    { afterMs: 5_000, fastestAnswerMs: 1_000, narrowedColumns },
  );
}

test('D5 an approval in a window that became too narrow for a row of the form does not count', () => {
  expect(outcome('accept', 50)).toMatchObject({ type: 'unanswered', why: 'too narrow' });
  expect(outcome('accept', 74)).toMatchObject({ type: 'decision' });
  expect(outcome('accept', 90)).toMatchObject({ type: 'decision' });
  // All rows of this form still fit.
  expect(outcome('accept', 70)).toMatchObject({ type: 'decision' });
});

test('a denial in a window that became too narrow counts', () => {
  expect(outcome('decline', 50)).toMatchObject({
    type: 'decision',
    decision: { decision: { decision: 'deny' } },
  });
});

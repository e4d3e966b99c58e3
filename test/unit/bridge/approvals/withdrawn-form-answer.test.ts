import { describe, expect, test } from '@jest/globals';
import {
  lateAnswerNotes,
  type LateAnswerContext,
} from '../../../../bridge/approvals/withdrawn-form-answer.ts';
import { buildFormCandidates } from '../../../../bridge/approvals/form.ts';
import type { CallView } from '../../../../bridge/sessions/session/observed-task.ts';
import { pendingWrite } from '../../../support/fake-agent-task.ts';
import { callView, taskView } from '../../../support/task-view.ts';

const KEY = 'one.0123456789abcdef';
const ACCEPT = { [KEY]: { action: 'accept', content: {} } };

const call = (decided: CallView['decided']): CallView => callView({ state: 'denied', decided });

function withdrawn(calls: readonly CallView[], changes: Partial<LateAnswerContext> = {}): LateAnswerContext {
  const view = taskView({ calls });
  return {
    asks: [],
    view,
    channel: 'task-form',
    formHistory: { subjectOfForm: () => undefined },
    ...changes,
  };
}

const byAlice = call({ decision: 'deny', by: 'alice', channel: 'page' });

describe('an answer to a form that was withdrawn', () => {
  test('R97 the person gets a note that the answer did not count, and about who decided', () => {
    expect(lateAnswerNotes(ACCEPT, withdrawn([byAlice]))).toEqual([
      'An answer in the form for "Write one.md" did not count: the action was denied by alice on an approval page before.',
    ]);
  });

  test('R97 the person gets a note that the bridge asks again, if the action has changed', () => {
    const asks = buildFormCandidates({ pending: [pendingWrite('one')], question: null }, () => undefined);
    expect(lateAnswerNotes(ACCEPT, withdrawn([call(null)], { asks }))).toEqual([
      expect.stringContaining('the action has changed since, and the person is asked again'),
    ]);
  });

  test('R97 the person gets the note also if the agent does not report the call’s outcome', () => {
    const formHistory = { subjectOfForm: () => 'action' as const };
    expect(lateAnswerNotes(ACCEPT, withdrawn([], { formHistory }))).toEqual([
      expect.stringContaining('did not count'),
    ]);
  });

  test.each<[string, Record<string, unknown>, LateAnswerContext]>([
    [
      'the same answer, sent twice',
      ACCEPT,
      withdrawn([call({ decision: 'approve', by: 'me', channel: 'task-form' })]),
    ],
    ['a form that was closed', { [KEY]: { action: 'cancel' } }, withdrawn([byAlice])],
    ['a key that no form had', { other: { action: 'accept' } }, withdrawn([byAlice])],
    [
      'a page that was opened',
      ACCEPT,
      withdrawn([byAlice], { formHistory: { subjectOfForm: () => 'page' } }),
    ],
  ])('R97 the person gets no note about %s', (_, responses, about) => {
    expect(lateAnswerNotes(responses, about)).toEqual([]);
  });
});

/** Tests that the next step says what the model needs, and no more. */
import { expect, test } from '@jest/globals';
import { briefNextStepText, nextStepText } from '../../../../../bridge/mcp/reports/next-step.ts';
import type { TaskView } from '../../../../../bridge/sessions/session/observed-task.ts';
import type { PendingAction } from '../../../../../shared/protocol/tool-approval.ts';
import { pendingWrite } from '../../../../support/fake-agent-task.ts';

const write = pendingWrite('one');
const question = pendingWrite('two', { reason: 'question', decisions: ['answer', 'deny'] });

function steps(...pending: PendingAction[]): { full: string; brief: string } {
  const view: TaskView = {
    taskId: 't',
    sessionId: 's',
    state: 'input-required',
    text: '',
    pending,
    question: null,
    calls: [],
    outputs: [],
    reply: '',
    cost: null,
    seq: 1,
  };
  const session = { id: 's', streamProblem: undefined, settled: true, stateName: view.state, view };
  return {
    full: nextStepText(session, 'settled', (tool) => tool),
    brief: briefNextStepText(session, 'settled', (tool) => tool),
  };
}

test('for questions alone, the next step speaks of no approval', () => {
  for (const text of Object.values(steps(question))) {
    expect(text).toMatch(/^Ask the person, and send what they say with approve_or_deny_pending_action/);
    expect(text).toContain('decision "answer"');
    expect(text).not.toContain('pending action is decided');
  }
  expect(steps(question).full).toContain('sessionId "s"');
});

test('only for several actions, the next step says when they run', () => {
  expect(steps(write).full).not.toContain('Nothing runs until');
  expect(steps(write, question).full).toContain('Nothing runs until every pending action is decided.');
  expect(steps(write, question).full).toContain('For a question that is the decision "answer"');
});

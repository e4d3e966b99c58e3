import { describe, expect, test } from '@jest/globals';
import { approveAllReadinessOf } from '../../../../../../a2a-server/page/browser/action/approve-all.ts';
import type { ShownAction } from '../../../../../../a2a-server/page/browser/action/shown-actions.ts';
import type { PendingAction } from '../../../../../../shared/client/index.ts';
import { pendingWrite } from '../../../../../support/fake-agent-task.ts';

const action = (
  callId: string,
  decisions: PendingAction['decisions'][number][] = ['approve', 'deny'],
): PendingAction => pendingWrite(callId, { decisions, shown: `code-${callId}` });
const waits = (...actions: PendingAction[]): ShownAction[] =>
  actions.map((each) => ({ type: 'waits', action: each }));

describe('the approval of all actions that wait', () => {
  test('D2 names each action with the code that the person has read', () => {
    expect(approveAllReadinessOf(waits(action('1'), action('2')), new Set(['code-1', 'code-2']))).toEqual({
      type: 'ready',
      decisions: [
        { callId: '1', shown: 'code-1', decision: 'approve', scope: 'once' },
        { callId: '2', shown: 'code-2', decision: 'approve', scope: 'once' },
      ],
    });
  });

  test('is not there if one action needs a passkey', () => {
    const demanding: PendingAction = { ...action('2'), presence: true };
    expect(approveAllReadinessOf(waits(action('1'), demanding), new Set(['code-1', 'code-2']))).toEqual({
      type: 'none',
    });
  });

  test('needs that the person has read each action as it is now', () => {
    expect(
      approveAllReadinessOf(waits(action('1'), action('2')), new Set(['code-1', 'code-of-before'])),
    ).toEqual({
      type: 'unread',
      read: 1,
      all: 2,
    });
  });

  test('leaves out decided actions, and does not exist for a single action', () => {
    const actions: ShownAction[] = [
      ...waits(action('1')),
      { type: 'gone', action: action('2'), newerCame: false },
      { type: 'decided-here', action: action('3'), decision: 'approve', newerCame: false },
    ];
    expect(approveAllReadinessOf(actions, new Set(['code-1', 'code-2', 'code-3']))).toEqual({ type: 'none' });
  });

  test('does not exist beside a question, or for more actions than one message may decide', () => {
    const read = new Set(Array.from({ length: 101 }, (_, at) => `code-${at}`));
    expect(approveAllReadinessOf(waits(action('1'), action('2', ['answer', 'deny'])), read)).toEqual({
      type: 'none',
    });
    const many = Array.from({ length: 101 }, (_, at) => action(String(at)));
    expect(approveAllReadinessOf(waits(...many), read)).toEqual({ type: 'none' });
    expect(approveAllReadinessOf(waits(...many.slice(1)), read).type).toBe('ready');
  });
});

import { describe, expect, test } from '@jest/globals';
import {
  callIdForRefusal,
  withAcceptedDecision,
  updateShownActions,
} from '../../../../../../a2a-server/page/browser/action/shown-actions.ts';
import type { PendingAction } from '../../../../../../shared/client/index.ts';
import { pendingWrite } from '../../../../../support/fake-agent-task.ts';

const action = (callId: string, shown = 'a'): PendingAction => pendingWrite(callId, { shown });
const [one, two, three] = [action('1'), action('2'), action('3')];
const approved = { callId: '1', shown: 'a', decision: 'approve' } as const;
const types = (shown: ReturnType<typeof updateShownActions>): string[] =>
  shown.map(({ action: { callId }, type }) => `${callId} ${type}`);

describe('the actions that the page shows', () => {
  test('after a decision on the page, the decided action keeps its position and the next one does not move', () => {
    const shown = withAcceptedDecision(updateShownActions([], [one, two]), approved);
    expect(types(updateShownActions(shown, [one, two]))).toEqual(['1 decided-here', '2 waits']);
    expect(updateShownActions(shown, [two])).toEqual(updateShownActions(shown, [one, two]));
  });

  test('after another action arrives, the page collapses a decided action', () => {
    const shown = updateShownActions(
      withAcceptedDecision(updateShownActions([], [one]), { ...approved, decision: 'deny' }),
      [three],
    );
    expect(shown).toEqual([
      { type: 'decided-here', action: one, decision: 'deny', newerCame: true },
      { type: 'waits', action: three },
    ]);
  });

  test('the stream and the answer to a decision may arrive in any order', () => {
    const shown = updateShownActions([], [one, two]);
    const answeredFirst = updateShownActions(withAcceptedDecision(shown, approved), [two, three]);
    expect(withAcceptedDecision(updateShownActions(shown, [two, three]), approved)).toEqual(answeredFirst);
    expect(
      withAcceptedDecision(updateShownActions(updateShownActions(shown, [two]), [two, three]), approved),
    ).toEqual(answeredFirst);
  });

  test('R97 an action that another channel decides keeps its position, with the mark "decided"', () => {
    expect(types(updateShownActions(updateShownActions([], [one, two]), [two]))).toEqual([
      '1 gone',
      '2 waits',
    ]);
  });

  test('an action that is asked again appears at its old position, also after a decision on the page', () => {
    const again = action('1', 'b');
    expect(updateShownActions(updateShownActions([], [one, two]), [again, two])[0]).toEqual({
      type: 'waits',
      action: again,
    });
    expect(
      updateShownActions(withAcceptedDecision(updateShownActions([], [one]), approved), [again]),
    ).toEqual([{ type: 'waits', action: again }]);
  });

  test('D2 if the new question arrives before the answer to the decision, the new question waits', () => {
    const again = action('1', 'b');
    const asked = updateShownActions(updateShownActions([], [one]), [again]);
    expect(withAcceptedDecision(asked, approved)).toEqual([{ type: 'waits', action: again }]);
  });

  test('a refusal is shown at the last of its actions that waits, or at none', () => {
    const actions = updateShownActions(updateShownActions([], [one, two, three]), [one, two]);
    expect(callIdForRefusal(actions, { callIds: ['1', '2', '3'] })).toBe('2');
    expect(callIdForRefusal(actions, { callIds: ['3'] })).toBeUndefined();
    expect(callIdForRefusal(actions, undefined)).toBeUndefined();
  });
});

import { describe, expect, test } from '@jest/globals';
import { outcomeText } from '../../../../../a2a-server/page/browser/outcome-text.ts';
import {
  withAcceptedDecision,
  updateShownActions,
} from '../../../../../a2a-server/page/browser/shown-actions.ts';
import type { PendingAction } from '../../../../../shared/client/index.ts';

const action = (callId: string, code = 'a'): PendingAction => ({
  callId,
  tool: 'write-file',
  title: `Write ${callId}`,
  input: {},
  sideEffect: 'files',
  reason: 'approval',
  preview: { type: 'json', value: {} },
  expiresAt: null,
  decisions: ['approve', 'deny'],
  shown: code,
});
const [one, two, three] = [action('1'), action('2'), action('3')];
const types = (shown: ReturnType<typeof updateShownActions>): string[] =>
  shown.map(({ action: { callId }, type }) => `${callId} ${type}`);

describe('the actions that a page visit shows', () => {
  test('keep an action in its place after a decision here; the next one does not move', () => {
    const shown = withAcceptedDecision(updateShownActions([], [one, two]), '1', 'approve');
    expect(types(updateShownActions(shown, [one, two]))).toEqual(['1 decided-here', '2 waits']);
    expect(updateShownActions(shown, [two])).toEqual(updateShownActions(shown, [one, two]));
  });

  test('collapse a decided action when another one arrives', () => {
    const shown = updateShownActions(withAcceptedDecision(updateShownActions([], [one]), '1', 'deny'), [
      three,
    ]);
    expect(shown).toEqual([
      { type: 'decided-here', action: one, decision: 'deny', folded: true },
      { type: 'waits', action: three },
    ]);
  });

  test('R97 keep an action in its place after another surface decides, and mark it as decided', () => {
    expect(types(updateShownActions(updateShownActions([], [one, two]), [two]))).toEqual([
      '1 gone',
      '2 waits',
    ]);
  });

  test('show an action that asks again in its place, also after a decision here', () => {
    const again = action('1', 'b');
    expect(updateShownActions(updateShownActions([], [one, two]), [again, two])[0]).toEqual({
      type: 'waits',
      action: again,
    });
    expect(
      updateShownActions(withAcceptedDecision(updateShownActions([], [one]), '1', 'approve'), [again]),
    ).toEqual([{ type: 'waits', action: again }]);
  });
});

test('describe a call’s outcome in one sentence', () => {
  const call = { callId: '1', state: 'ok' };
  expect(outcomeText({ ...call, decided: { decision: 'approve', channel: 'cli' } })).toBe(
    'This action no longer waits: it was approved over "cli".',
  );
  expect(outcomeText({ ...call, state: 'withdrawn' })).toBe(
    'This action no longer waits: it is withdrawn. Nobody decided it.',
  );
  expect(outcomeText(undefined)).toBe('This task has no such action.');
});

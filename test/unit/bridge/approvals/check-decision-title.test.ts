import { describe, expect, test } from '@jest/globals';
import { wrongTitleError } from '../../../../bridge/approvals/check-decision-title.ts';

const SHOWN = [
  { callId: 'one', title: 'Write one.md' },
  { callId: 'two', title: 'Write two.md' },
];

describe('the action title in a decision', () => {
  test.each<[string, { callId: string; title?: string }[], boolean]>([
    ['is the title of its action', [{ callId: 'one', title: 'Write one.md' }], true],
    ['may be left out where no person reads the call', [{ callId: 'one' }], false],
    ['of a call that does not wait is left to its agent', [{ callId: 'gone', title: 'Write x' }], true],
    ['may be missing for a question, which has none', [{ callId: 'question' }], true],
  ])('%s', (_, decisions, required) => {
    expect(wrongTitleError(SHOWN, decisions, required)).toBeUndefined();
  });

  test.each<[string, { callId: string; title?: string }[], boolean]>([
    ['of another action', [{ callId: 'one', title: 'Write two.md' }], false],
    ['that is shortened', [{ callId: 'one', title: 'Write' }], true],
    ['that is missing where a person reads the call', [{ callId: 'one' }], true],
    [
      'in the last of several decisions',
      [
        { callId: 'two', title: 'Write two.md' },
        { callId: 'one', title: 'x' },
      ],
      true,
    ],
  ])('%s is refused, and the error contains the right title', (_, decisions, required) => {
    const refusal = wrongTitleError(SHOWN, decisions, required);
    expect(refusal?.reason).toBe('INVALID_DECISION');
    expect(refusal?.message).toMatch(/Nothing was decided\. The title is "Write one\.md"/);
  });
});

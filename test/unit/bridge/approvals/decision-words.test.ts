import { describe, expect, test } from '@jest/globals';
import { decisionInput, decisionsOf, verdictOf } from '../../../../bridge/approvals/decision-words.ts';

const none = (): undefined => undefined;

describe('the words of a decision', () => {
  test.each([
    ['approve', { decision: 'approve', scope: 'once' }],
    ['deny', { decision: 'deny', scope: 'once' }],
    ['trust_tool', { decision: 'approve', scope: 'tool' }],
    ['trust_server', { decision: 'approve', scope: 'server' }],
    ['trust_always', { decision: 'approve', scope: 'always' }],
  ] as const)('%s', (decision, meaning) => {
    expect(verdictOf({ callId: 'c', decision }, none)).toEqual({
      type: 'decision',
      decision: { callId: 'c', ...meaning },
    });
  });

  test.each([
    'reject',
    'yes',
    'APPROVE',
    'approve ',
    '',
    'Approve',
    1,
    true,
    null,
    undefined,
    ['approve'],
    {},
  ])('R06 D1 %p is no decision', (decision) => {
    expect(decisionInput.safeParse({ callId: 'c', decision }).success).toBe(false);
  });

  test('R06 a field it does not know is refused, not ignored: it may hold what the person changed', () => {
    expect(decisionInput.safeParse({ callId: 'c', decision: 'approve', edited_content: 'x' }).success).toBe(
      false,
    );
  });

  test('R12 trust may be given for so many minutes, so many uses, or both', () => {
    const trust = { callId: 'c', decision: 'trust_tool' } as const;
    expect(verdictOf({ ...trust, trustMinutes: 10, trustUses: 3 }, none)).toMatchObject({
      decision: { scope: 'tool', grant: { minutes: 10, uses: 3 } },
    });
    expect(verdictOf({ ...trust, trustUses: 1 }, none)).toMatchObject({ decision: { grant: { uses: 1 } } });
    for (const decision of ['approve', 'deny'] as const)
      expect(() => verdictOf({ callId: 'c', decision, trustMinutes: 10 }, none)).toThrow(
        /goes with trust_tool/,
      );
    for (const limit of [{ trustUses: 0 }, { trustUses: 1.5 }, { trustMinutes: -1 }, { trustMinutes: '10' }])
      expect(decisionInput.safeParse({ ...trust, ...limit }).success).toBe(false);
  });

  test('D2 the hash of what was shown goes with it', () => {
    const verdict = verdictOf({ callId: 'c', decision: 'approve' }, (callId) => `hash of ${callId}`);
    expect(verdict).toMatchObject({ decision: { inputHash: 'hash of c' } });
  });

  test('R10 an edit carries the new content or the new input, one of them', () => {
    const edit = { callId: 'c', decision: 'edit' } as const;
    expect(verdictOf({ ...edit, editedContent: '' }, none)).toMatchObject({
      decision: { decision: 'edit', content: '' },
    });
    expect(verdictOf({ ...edit, editedInput: { a: 1 } }, none)).toMatchObject({
      decision: { input: { a: 1 } },
    });
    expect(() => verdictOf(edit, none)).toThrow(/give editedContent .* or editedInput/);
    expect(() => verdictOf({ ...edit, editedContent: 'x', editedInput: {} }, none)).toThrow(/not both/);
  });

  test.each(['approve', 'deny', 'trust_tool', 'trust_server', 'trust_always'] as const)(
    'R10 %s with an edited content is refused: the change would be lost',
    (decision) => {
      expect(() => verdictOf({ callId: 'c', decision, editedContent: 'x' }, none)).toThrow(
        /needs the decision "edit"/,
      );
      expect(() => verdictOf({ callId: 'c', decision, answer: 'x' }, none)).toThrow(
        /needs the decision "answer"/,
      );
    },
  );

  test('an answer needs words', () => {
    expect(verdictOf({ callId: 'q', decision: 'answer', answer: 'Ada' }, none)).toEqual({
      type: 'answer',
      callId: 'q',
      answer: 'Ada',
    });
    expect(() => verdictOf({ callId: 'q', decision: 'answer' }, none)).toThrow(/Say the answer/);
  });

  test('one in the fields, or several in the list, never both and never none', () => {
    expect(decisionsOf({ callId: 'c', decision: 'deny' }, undefined)).toEqual([
      { callId: 'c', decision: 'deny' },
    ]);
    const list = [
      { callId: 'a', decision: 'approve' as const },
      { callId: 'b', decision: 'deny' as const },
    ];
    expect(decisionsOf({}, list)).toEqual(list);
    expect(() => decisionsOf({ callId: 'c', decision: 'deny' }, list)).toThrow(/not both/);
    expect(() => decisionsOf({ callId: 'c' }, undefined)).toThrow(/what to do with it/);
    expect(() => decisionsOf({}, undefined)).toThrow(/Say which pending action/);
    expect(() => decisionsOf({}, [...list, { callId: 'a', decision: 'deny' }])).toThrow(/appears twice/);
  });
});

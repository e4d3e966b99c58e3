import { describe, expect, test } from '@jest/globals';
import {
  decisionInputSchema,
  decisionsOfToolCall,
  toPersonDecision,
} from '../../../../bridge/approvals/decision-input.ts';

describe('the input of a decision', () => {
  test.each([
    ['approve', { decision: 'approve', scope: 'once' }],
    ['deny', { decision: 'deny', scope: 'once' }],
    ['trust_tool', { decision: 'approve', scope: 'tool' }],
    ['trust_server', { decision: 'approve', scope: 'server' }],
    ['trust_always', { decision: 'approve', scope: 'always' }],
  ] as const)('the decision %s has its meaning and scope', (decision, meaning) => {
    expect(toPersonDecision({ callId: 'c', shown: '3f9ac2d1', decision })).toEqual({
      type: 'decision',
      decision: { callId: 'c', shown: '3f9ac2d1', ...meaning },
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
  ])('R06 D1 %p is not a decision', (decision) => {
    expect(decisionInputSchema.safeParse({ callId: 'c', shown: '3f9ac2d1', decision }).success).toBe(false);
  });

  test('R06 an unknown field is refused and not ignored, because it may contain the person’s change', () => {
    expect(
      decisionInputSchema.safeParse({
        callId: 'c',
        shown: '3f9ac2d1',
        decision: 'approve',
        edited_content: 'x',
      }).success,
    ).toBe(false);
  });

  test('R12 trust can have a limit of minutes, of uses, or of both', () => {
    const trust = { callId: 'c', shown: '3f9ac2d1', decision: 'trust_tool' } as const;
    expect(toPersonDecision({ ...trust, trustMinutes: 10, trustUses: 3 })).toMatchObject({
      decision: { scope: 'tool', grant: { minutes: 10, uses: 3 } },
    });
    expect(toPersonDecision({ ...trust, trustUses: 1 })).toMatchObject({ decision: { grant: { uses: 1 } } });
    for (const decision of ['approve', 'deny'] as const)
      expect(() => toPersonDecision({ callId: 'c', shown: '3f9ac2d1', decision, trustMinutes: 10 })).toThrow(
        /trust limit needs a trust decision/,
      );
    for (const limit of [{ trustUses: 0 }, { trustUses: 1.5 }, { trustMinutes: -1 }, { trustMinutes: '10' }])
      expect(decisionInputSchema.safeParse({ ...trust, ...limit }).success).toBe(false);
  });

  test('D2 the decision must contain the code of the shown action, and the bridge never adds a missing code', () => {
    expect(toPersonDecision({ callId: 'c', shown: '3f9ac2d1', decision: 'approve' })).toMatchObject({
      decision: { shown: '3f9ac2d1' },
    });
    expect(decisionInputSchema.safeParse({ callId: 'c', decision: 'approve' }).success).toBe(false);
    expect(() => decisionsOfToolCall({ callId: 'c', decision: 'approve' }, undefined)).toThrow(
      /Give callId, shown and decision/,
    );
  });

  test('R10 an edit has either the new content or the new input', () => {
    const edit = { callId: 'c', shown: '3f9ac2d1', decision: 'edit' } as const;
    expect(toPersonDecision({ ...edit, editedContent: '' })).toMatchObject({
      decision: { decision: 'edit', content: '' },
    });
    expect(toPersonDecision({ ...edit, editedInput: { a: 1 } })).toMatchObject({
      decision: { input: { a: 1 } },
    });
    expect(() => toPersonDecision(edit)).toThrow(/give editedContent .* or editedInput/);
    expect(() => toPersonDecision({ ...edit, editedContent: 'x', editedInput: {} })).toThrow(/not both/);
  });

  test.each(['approve', 'deny', 'trust_tool', 'trust_server', 'trust_always'] as const)(
    'R10 %s with an edited content is refused, because the change would be lost',
    (decision) => {
      expect(() =>
        toPersonDecision({ callId: 'c', shown: '3f9ac2d1', decision, editedContent: 'x' }),
      ).toThrow(/needs the decision "edit"/);
      expect(() => toPersonDecision({ callId: 'c', shown: '3f9ac2d1', decision, answer: 'x' })).toThrow(
        /needs the decision "answer"/,
      );
    },
  );

  test('an answer must contain text', () => {
    expect(toPersonDecision({ callId: 'q', shown: '3f9ac2d1', decision: 'answer', answer: 'Ada' })).toEqual({
      type: 'answer',
      callId: 'q',
      shown: '3f9ac2d1',
      answer: 'Ada',
    });
    expect(() => toPersonDecision({ callId: 'q', shown: '3f9ac2d1', decision: 'answer' })).toThrow(
      /Say the answer/,
    );
  });

  test('a call has either one decision in its fields, or several in the list', () => {
    expect(decisionsOfToolCall({ callId: 'c', shown: '3f9ac2d1', decision: 'deny' }, undefined)).toEqual([
      { callId: 'c', shown: '3f9ac2d1', decision: 'deny' },
    ]);
    const list = [
      { callId: 'a', shown: '3f9ac2d1', decision: 'approve' as const },
      { callId: 'b', shown: '3f9ac2d1', decision: 'deny' as const },
    ];
    expect(decisionsOfToolCall({}, list)).toEqual(list);
    expect(() => decisionsOfToolCall({ callId: 'c', shown: '3f9ac2d1', decision: 'deny' }, list)).toThrow(
      /not both/,
    );
    expect(() => decisionsOfToolCall({ callId: 'c' }, undefined)).toThrow(
      /^Nothing was decided\. Give callId, shown and decision/,
    );
    expect(() => decisionsOfToolCall({}, undefined)).toThrow(
      /^Nothing was decided\. Give callId, shown and decision/,
    );
    expect(() =>
      decisionsOfToolCall({}, [...list, { callId: 'a', shown: '3f9ac2d1', decision: 'deny' }]),
    ).toThrow(/appears twice/);
  });
});

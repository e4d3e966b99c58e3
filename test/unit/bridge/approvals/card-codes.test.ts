import { describe, expect, it } from '@jest/globals';
import { ApprovalCardCodes } from '../../../../bridge/approvals/card-codes.ts';

const ACTION = { agent: 'a1', taskId: 't1', callId: 'c1', shown: '0123abcd' };
const REFUSED = expect.objectContaining({ reason: 'INVALID_DECISION' });

describe('the codes of the approval card', () => {
  it('a code permits one decision on its action', () => {
    const codes = new ApprovalCardCodes(() => 0);
    const code = codes.issue(ACTION);
    expect(() => codes.use(code, ACTION)).not.toThrow();
    expect(() => codes.use(code, ACTION)).toThrow(REFUSED);
  });

  it.each([
    ['the same action of another agent', { ...ACTION, agent: 'a2' }],
    ['another task', { ...ACTION, taskId: 't2' }],
    ['another call', { ...ACTION, callId: 'c2' }],
    ['another input of the same call', { ...ACTION, shown: '4567abcd' }],
  ])('a code does not permit a decision on %s, and that attempt uses it up', (_, other) => {
    const codes = new ApprovalCardCodes(() => 0);
    const code = codes.issue(ACTION);
    expect(() => codes.use(code, other)).toThrow(REFUSED);
    expect(() => codes.use(code, ACTION)).toThrow(REFUSED);
  });

  it('a code expires after ten minutes', () => {
    let now = 0;
    const codes = new ApprovalCardCodes(() => now);
    const [early, late] = [codes.issue(ACTION), codes.issue(ACTION)];
    now = 10 * 60_000 - 1;
    expect(() => codes.use(early, ACTION)).not.toThrow();
    now += 1;
    expect(() => codes.use(late, ACTION)).toThrow(REFUSED);
  });

  it('keeps the newest thousand codes', () => {
    const codes = new ApprovalCardCodes(() => 0);
    const [first, second] = Array.from({ length: 1001 }, () => codes.issue(ACTION));
    expect(() => codes.use(first ?? '', ACTION)).toThrow(REFUSED);
    expect(() => codes.use(second ?? '', ACTION)).not.toThrow();
  });
});

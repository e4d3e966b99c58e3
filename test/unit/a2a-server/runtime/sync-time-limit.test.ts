import { describe, expect, it } from '@jest/globals';
import { TimeExceededError, runWithinTime } from '../../../../a2a-server/runtime/sync-time-limit.ts';

describe('withinTime, which limits the time of work', () => {
  it('withinTime returns the result of the work, even undefined', () => {
    expect(runWithinTime(1000, () => [1, 2])).toEqual([1, 2]);
    expect(runWithinTime(1000, () => undefined)).toBeUndefined();
  });

  it('withinTime throws the error of the work', () => {
    const failure = new RangeError('mine');
    expect(() =>
      runWithinTime(1000, () => {
        throw failure;
      }),
    ).toThrow(failure);
  });

  it('X3 runWithinTime stops a regular expression and a loop that never end', () => {
    expect(() => runWithinTime(20, () => /^(a+)+$/u.test(`${'a'.repeat(60)}b`))).toThrow(TimeExceededError);
    expect(() =>
      runWithinTime(20, () => {
        for (;;);
      }),
    ).toThrow(TimeExceededError);
    expect(runWithinTime(1000, () => 'still works')).toBe('still works');
  });
});

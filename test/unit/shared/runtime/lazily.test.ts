import { describe, expect, it } from '@jest/globals';
import { lazily } from '../../../../shared/runtime/lazily.ts';

describe('lazily', () => {
  it('makes the value at the first call, and makes it once, also if it is undefined', () => {
    let calls = 0;
    const value = lazily(() => {
      calls += 1;
      return undefined;
    });
    expect(calls).toBe(0);
    expect([value(), value()]).toEqual([undefined, undefined]);
    expect(calls).toBe(1);
  });
});

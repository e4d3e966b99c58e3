import { describe, expect, it } from '@jest/globals';
import { PausableTimeout } from '../../../../../a2a-server/executor/abort-scopes/pausable-timeout.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const DAY = 86_400_000;

describe('a time limit that pauses', () => {
  it.each([
    ['ahead', 400 * DAY],
    ['back', -400 * DAY],
  ])('R103 keeps its remaining time if the wall clock jumps %s before a pause', (_direction, jump) => {
    const clock = new FakeClock();
    let ends = 0;
    const timeout = new PausableTimeout(clock, 10_000, () => (ends += 1));
    clock.advance(4_000);
    clock.jump(jump);
    const goOn = timeout.hold();
    clock.advance(60_000);
    goOn();
    clock.advance(5_999);
    expect(ends).toBe(0);
    clock.advance(1);
    expect(ends).toBe(1);
    timeout.cancel();
  });
});

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { systemClock } from '../../../../shared/runtime/clock.ts';

const DAY_MS = 86_400_000;

afterEach(() => void jest.useRealTimers());

describe('the system clock', () => {
  it.each([1, 24, 25, 50, 36_500])(
    'the clock supports a timer of %d days, beyond the limit of Node’s timers',
    (days) => {
      jest.useFakeTimers();
      const act = jest.fn();
      systemClock.after(days * DAY_MS, act);
      jest.advanceTimersByTime(days * DAY_MS - 1);
      expect(act).not.toHaveBeenCalled();
      jest.advanceTimersByTime(1);
      expect(act).toHaveBeenCalledTimes(1);
      jest.advanceTimersByTime(days * DAY_MS);
      expect(act).toHaveBeenCalledTimes(1);
    },
  );

  it('the clock can cancel a timer at any time, and then has no timer', () => {
    jest.useFakeTimers();
    const act = jest.fn();
    const early = systemClock.after(30 * DAY_MS, act);
    const late = systemClock.after(30 * DAY_MS, act);
    early();
    jest.advanceTimersByTime(26 * DAY_MS);
    late();
    late();
    expect(jest.getTimerCount()).toBe(0);
    jest.advanceTimersByTime(30 * DAY_MS);
    expect(act).not.toHaveBeenCalled();
  });
});

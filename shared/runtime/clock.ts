/** The clock and timers. Tests replace them with a fake clock. */
export interface Clock {
  /** Returns milliseconds since 1970. */
  now(): number;
  /**
   * Calls `act` once after `ms` milliseconds. Returns a function that cancels the timer. A call of that function after
   * the end has no effect.
   */
  after(ms: number, act: () => void): () => void;
}

/** The longest delay of a Node timer is about 24.8 days. A timer with a longer delay fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, act) {
    let timer: NodeJS.Timeout;
    const wait = (left: number): void => {
      const next = left - LONGEST_TIMER_MS;
      timer = next > 0 ? setTimeout(() => wait(next), LONGEST_TIMER_MS) : setTimeout(act, left);
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

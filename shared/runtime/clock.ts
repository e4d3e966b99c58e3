/** The current time and timers. Tests replace them with a fake clock. */
export interface Clock {
  /** The time in milliseconds since 1970. */
  now(): number;
  /**
   * The time since a fixed moment, in milliseconds, for durations. It does not jump when the wall clock is changed. Like
   * a timer, it may stop while the machine sleeps.
   */
  elapsed(): number;
  /**
   * Calls `act` once after `ms` milliseconds. Returns a function that cancels the timer. That function has no effect
   * after the timer has fired.
   */
  after(ms: number, act: () => void): () => void;
}

/** The maximum delay of a Node timer, about 24.8 days. Node fires a timer with a longer delay immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, act) {
    let timer: NodeJS.Timeout;
    const wait = (left: number): void => {
      const next = left - MAX_TIMER_MS;
      timer = next > 0 ? setTimeout(() => wait(next), MAX_TIMER_MS) : setTimeout(act, left);
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

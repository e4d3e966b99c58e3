/** Time, from outside: so that a test can hold it still, and ten minutes pass in none. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs `act` once after `ms` milliseconds. @returns how to call it off; calling it off late or twice is harmless. */
  after(ms: number, act: () => void): () => void;
}

/** Node's timers count no further, some 24.8 days; what is set for longer goes off at once. */
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

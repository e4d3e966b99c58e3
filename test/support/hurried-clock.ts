/**
 * A clock for tests without waiting. A short wait ends at once, and advances the time by its length. A time limit fires
 * only when the test calls `strike`.
 */
import type { Clock } from '../../shared/runtime/clock.ts';

export class HurriedClock implements Clock {
  /** The length of each wait so far, in milliseconds. */
  readonly waits: number[] = [];
  /** Called at the start of each wait. */
  onWait: () => void = () => undefined;
  readonly #limits: ReadonlySet<number>;
  /** The callbacks of the active time limits. */
  readonly #running = new Set<() => void>();
  #now = Date.UTC(2026, 0, 1);
  #open = 0;

  /** @param limits the lengths of timers that are time limits, in milliseconds; all other timers are short waits */
  constructor(limits: readonly number[]) {
    this.#limits = new Set(limits);
  }

  now(): number {
    return this.#now;
  }

  elapsed(): number {
    return this.#now;
  }

  /** The number of active timers. */
  get pending(): number {
    return this.#open;
  }

  after(ms: number, act: () => void): () => void {
    let done = false;
    this.#open += 1;
    const end = (): boolean => {
      if (done) return false;
      done = true;
      this.#open -= 1;
      return true;
    };
    const fire = (): void => {
      if (!end()) return;
      this.#now += ms;
      act();
    };
    if (this.#limits.has(ms)) this.#running.add(fire);
    else {
      this.waits.push(ms);
      setImmediate(fire);
      // Deferred, so that the caller first receives the cancel function.
      queueMicrotask(this.onWait);
    }
    return () => {
      end();
      this.#running.delete(fire);
    };
  }

  /** Fires all active time limits. */
  strike(): void {
    for (const fire of this.#running) fire();
    this.#running.clear();
  }
}

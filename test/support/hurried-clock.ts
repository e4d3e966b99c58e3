/** Time in which nobody waits: what waits between two pages is let on at once, with the time passed; time limits come when the test says. */
import type { Clock } from '../../shared/runtime/clock.ts';

export class HurriedClock implements Clock {
  /** What was waited for, in milliseconds. */
  readonly waits: number[] = [];
  /** Called when somebody begins to wait. */
  onWait: () => void = () => undefined;
  readonly #limits: ReadonlySet<number>;
  /** What happens at the time limits that run now. */
  readonly #running = new Set<() => void>();
  #now = Date.UTC(2026, 0, 1);
  #open = 0;

  /** @param limits timers of these lengths are time limits */
  constructor(limits: readonly number[]) {
    this.#limits = new Set(limits);
  }

  now(): number {
    return this.#now;
  }

  /** Timers that were neither called off nor have fired. */
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
      // Once the caller has its way to call it off.
      queueMicrotask(this.onWait);
    }
    return () => {
      end();
      this.#running.delete(fire);
    };
  }

  /** Lets every time limit that runs now come. */
  strike(): void {
    for (const fire of this.#running) fire();
    this.#running.clear();
  }
}

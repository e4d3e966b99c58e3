/** A clock that only a test advances. */
import type { Clock } from '../../shared/runtime/clock.ts';

export class FakeClock implements Clock {
  #now = Date.UTC(2026, 0, 1);
  /** The sum of all jumps, in milliseconds. */
  #jumped = 0;
  readonly #timers = new Set<{ at: number; act: () => void }>();

  now(): number {
    return this.#now;
  }

  elapsed(): number {
    return this.#now - this.#jumped;
  }

  after(ms: number, act: () => void): () => void {
    const timer = { at: this.#now + ms, act };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** The number of active timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Changes the wall clock, as a person or a time server does. The remaining time of each timer stays the same. */
  jump(ms: number): void {
    this.#now += ms;
    this.#jumped += ms;
    for (const timer of this.#timers) timer.at += ms;
  }

  /** Advances the time and fires due timers in order. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = next.at;
      next.act();
    }
    this.#now = end;
  }
}

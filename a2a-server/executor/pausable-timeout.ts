/** A time limit that can be held: while a person is waited for, nothing counts. */
import type { Clock } from '../../shared/runtime/clock.ts';

export class PausableTimeout {
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  /** Milliseconds left when it began to run last. */
  #leftMs: number;
  #since = 0;
  #holders = 0;
  #over = false;
  #stopTimer: (() => void) | undefined;

  /** @param ms after which `onEnd` is called, once, in milliseconds; it begins to count at once. */
  constructor(clock: Clock, ms: number, onEnd: () => void) {
    this.#clock = clock;
    this.#leftMs = ms;
    this.#onEnd = onEnd;
    this.#count();
  }

  /** Stands still until what is returned has been called, by every holder. Calling it twice is harmless. */
  hold(): () => void {
    this.#holders += 1;
    if (this.#holders === 1) this.#pause();
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holders -= 1;
      if (this.#holders === 0) this.#count();
    };
  }

  /** Calls it off, for good. */
  cancel(): void {
    this.#over = true;
    this.#stopTimer?.();
  }

  #pause(): void {
    if (this.#over) return;
    this.#stopTimer?.();
    this.#leftMs -= this.#clock.now() - this.#since;
  }

  #count(): void {
    if (this.#over) return;
    this.#since = this.#clock.now();
    this.#stopTimer = this.#clock.after(Math.max(0, this.#leftMs), () => {
      this.#over = true;
      this.#onEnd();
    });
  }
}

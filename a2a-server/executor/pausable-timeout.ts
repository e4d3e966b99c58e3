/** A time limit that can pause, e.g. while a tool waits for a person. */
import type { Clock } from '../../shared/runtime/clock.ts';

export class PausableTimeout {
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  /** The time left when the timer last started, in milliseconds. */
  #leftMs: number;
  #since = 0;
  #holders = 0;
  #over = false;
  #stopTimer: (() => void) | undefined;

  /** @param ms delay in milliseconds before the only call of `onEnd`. The timer starts at once. */
  constructor(clock: Clock, ms: number, onEnd: () => void) {
    this.#clock = clock;
    this.#leftMs = ms;
    this.#onEnd = onEnd;
    this.#count();
  }

  /**
   * Pauses the timer. It continues when each caller has called its returned function. A second call of such a function
   * has no effect.
   */
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

  /** Cancels the timer for good. */
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

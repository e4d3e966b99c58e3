/** A time limit that can pause, e.g. while a tool waits for a person. */
import type { Clock } from '../../../shared/runtime/clock.ts';

export class PausableTimeout {
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  #leftMs: number;
  #since = 0;
  #holders = 0;
  #over = false;
  #stopTimer: (() => void) | undefined;

  /** Starts the timer. Calls `onEnd` once, when `ms` milliseconds have passed. Pauses do not count. */
  constructor(clock: Clock, ms: number, onEnd: () => void) {
    this.#clock = clock;
    this.#leftMs = ms;
    this.#onEnd = onEnd;
    this.#startCounting();
  }

  /**
   * Pauses the timer. The timer continues when every caller has called its returned function. A second call of that
   * function has no effect.
   */
  hold(): () => void {
    this.#holders += 1;
    if (this.#holders === 1) this.#pause();
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holders -= 1;
      if (this.#holders === 0) this.#startCounting();
    };
  }

  cancel(): void {
    this.#over = true;
    this.#stopTimer?.();
  }

  #pause(): void {
    if (this.#over) return;
    this.#stopTimer?.();
    this.#leftMs -= this.#clock.elapsed() - this.#since;
  }

  #startCounting(): void {
    if (this.#over) return;
    this.#since = this.#clock.elapsed();
    this.#stopTimer = this.#clock.after(Math.max(0, this.#leftMs), () => {
      this.#over = true;
      this.#onEnd();
    });
  }
}

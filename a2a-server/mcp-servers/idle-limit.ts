/** A time limit that restarts with each message. It pauses while the server asks a person. */
import type { Clock } from '../../shared/runtime/clock.ts';

export class IdleLimit {
  readonly #clock: Clock;
  readonly #ms: number | null;
  readonly #onExpire: () => void;
  #holders = 0;
  /** True if the limit is cancelled or expired. No timer starts after that. */
  #over = false;
  #expired = false;
  #cancelTimer: (() => void) | undefined;

  /** @param ms null for no limit @param onExpire called at most once */
  constructor(clock: Clock, ms: number | null, onExpire: () => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#onExpire = onExpire;
    this.restart();
  }

  get expired(): boolean {
    return this.#expired;
  }

  restart(): void {
    this.#stopTimer();
    if (this.#ms === null || this.#over || this.#holders > 0) return;
    this.#cancelTimer = this.#clock.after(this.#ms, () => {
      this.#over = true;
      this.#expired = true;
      this.#onExpire();
    });
  }

  /** Pauses the limit. Returns a function that ends the pause and must be called once. */
  hold(): () => void {
    this.#holders += 1;
    this.#stopTimer();
    return () => {
      this.#holders -= 1;
      this.restart();
    };
  }

  /** Cancels the limit, even during a pause. */
  cancel(): void {
    this.#over = true;
    this.#stopTimer();
  }

  #stopTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}

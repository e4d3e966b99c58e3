/** A time limit that starts again with each message, and pauses while a person is asked. */
import type { Clock } from '../../shared/runtime/clock.ts';

export class IdleLimit {
  readonly #clock: Clock;
  readonly #ms: number | null;
  readonly #onExpire: () => void;
  #holders = 0;
  #expired = false;
  #cancelTimer: (() => void) | undefined;

  /** @param ms the limit in milliseconds; null for none @param onExpire called once */
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
    this.cancel();
    if (this.#ms === null || this.#expired || this.#holders > 0) return;
    this.#cancelTimer = this.#clock.after(this.#ms, () => {
      this.#expired = true;
      this.#onExpire();
    });
  }

  /** Pauses the limit until the returned function is called once. */
  hold(): () => void {
    this.#holders += 1;
    this.cancel();
    return () => {
      this.#holders -= 1;
      this.restart();
    };
  }

  /** Leaves no timer. */
  cancel(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}

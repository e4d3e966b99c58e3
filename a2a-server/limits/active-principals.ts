/** Remembers which principals have been active lately. */
import type { Clock } from '../../shared/runtime/clock.ts';

/** The time for which a principal counts as active after its last action, in milliseconds. */
const ACTIVE_MS = 10_000;

export class ActivePrincipals {
  readonly #clock: Pick<Clock, 'now'>;
  /** The time of each principal's last action. */
  readonly #lastActions = new Map<string, number>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  add(principal: string): void {
    this.#lastActions.set(principal, this.#clock.now());
  }

  /** True if another principal than this one is active. */
  hasOther(principal: string): boolean {
    const now = this.#clock.now();
    let found = false;
    for (const [other, at] of this.#lastActions) {
      // If the wall clock was set back, `at` may be in the future. So only the size of the difference counts.
      if (Math.abs(now - at) > ACTIVE_MS) this.#lastActions.delete(other);
      else if (other !== principal) found = true;
    }
    return found;
  }
}

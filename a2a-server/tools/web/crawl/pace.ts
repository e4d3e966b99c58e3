/** Not too fast: one request at a time to each site, with a gap between two, whoever of this server asks. */
import type { Clock } from '../../../../shared/clock.ts';
import { pass } from '../../../../shared/pass.ts';

export class Pace {
  readonly #clock: Clock;
  /** Site → when the next request may go out. */
  readonly #next = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Until when somebody who asked now would have to wait, in milliseconds since the epoch. */
  turnAt(site: string): number {
    return Math.max(this.#clock.now(), this.#next.get(site) ?? 0);
  }

  /** Resolves when it is the caller's turn; the next one comes `gapMs` milliseconds later. @throws AbortError */
  async turn(site: string, gapMs: number, signal: AbortSignal): Promise<void> {
    const at = this.turnAt(site);
    this.#forget();
    this.#next.set(site, at + gapMs);
    const wait = at - this.#clock.now();
    try {
      if (wait > 0) await pass(this.#clock, wait, signal);
      signal.throwIfAborted();
    } catch (error) {
      // Who gave up the last turn in the row leaves no hole behind.
      if (this.#next.get(site) === at + gapMs) this.#next.set(site, at);
      throw error;
    }
  }

  #forget(): void {
    const now = this.#clock.now();
    for (const [site, at] of this.#next) if (at <= now) this.#next.delete(site);
  }
}

/** Limits the request rate to each site for the whole server. A site gets one request, then a time without requests. */
import type { Clock } from '../../../../shared/runtime/clock.ts';
import { delay } from '../../../runtime/timeout.ts';

export class SiteRequestPacer {
  readonly #clock: Clock;
  /** Maps each site to the time of its next allowed request. */
  readonly #next = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the time at which the next request to the site may start, as `Clock.elapsed` gives it. */
  turnAt(site: string): number {
    return Math.max(this.#clock.elapsed(), this.#next.get(site) ?? 0);
  }

  /**
   * Waits until a request to the site may start. The next request may start `gapMs` milliseconds after that.
   * @throws AbortError
   */
  async turn(site: string, gapMs: number, signal: AbortSignal): Promise<void> {
    const at = this.turnAt(site);
    this.#removeOldSites();
    this.#next.set(site, at + gapMs);
    const wait = at - this.#clock.elapsed();
    try {
      if (wait > 0) await delay(this.#clock, wait, signal);
      signal.throwIfAborted();
    } catch (error) {
      // This request does not start. So if no later request waits, the next request may start at the time that was
      // reserved for this request.
      if (this.#next.get(site) === at + gapMs) this.#next.set(site, at);
      throw error;
    }
  }

  #removeOldSites(): void {
    const now = this.#clock.elapsed();
    for (const [site, at] of this.#next) if (at <= now) this.#next.delete(site);
  }
}

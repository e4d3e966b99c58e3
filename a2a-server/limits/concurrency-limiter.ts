import {
  type CountsByScope,
  type LimitName,
  limitRefusal,
  type LimitScope,
  reachedLimitScope,
} from './limits.ts';
import { PrincipalCounter } from './principal-counter.ts';

export type OnRefused = (limit: LimitName, scope: LimitScope) => void;

/** Counts the requests or other things that each principal has open, and refuses more than the limit. */
export class ConcurrencyLimiter {
  readonly #name: LimitName;
  readonly #limit: () => CountsByScope;
  readonly #onRefused: OnRefused;
  readonly #used = new PrincipalCounter();

  /** @param limit returns the limit that applies now */
  constructor(name: LimitName, limit: () => CountsByScope, onRefused: OnRefused = () => undefined) {
    this.#name = name;
    this.#limit = limit;
    this.#onRefused = onRefused;
  }

  get total(): number {
    return this.#used.total;
  }

  of(principal: string): number {
    return this.#used.of(principal);
  }

  /** Refuses if the principal has reached a limit. @throws ProductError LIMIT_REACHED, OVERLOADED */
  check(principal: string): void {
    const limit = this.#limit();
    const scope = reachedLimitScope(this.#used.usedBy(principal), limit);
    if (scope === undefined) return;
    this.#onRefused(this.#name, scope);
    throw limitRefusal({ name: this.#name, scope, limit });
  }

  /**
   * Adds `amount` to what the principal has open. Returns a function that subtracts the same amount. Later calls of
   * that function do nothing.
   * @throws ProductError LIMIT_REACHED, OVERLOADED
   */
  take(principal: string, amount = 1): () => void {
    this.check(principal);
    this.#used.add(principal, amount);
    let taken = true;
    return () => {
      if (!taken) return;
      taken = false;
      this.#used.add(principal, -amount);
    };
  }
}

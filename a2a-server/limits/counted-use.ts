import { tenantOf } from '../access/requester.ts';
import { type Limit, type LimitName, limitRefusal, type LimitScope, reachedLimit } from './limits.ts';

export type OnRefused = (limit: LimitName, scope: LimitScope) => void;

/**
 * Counts the requests or other things that each principal has open, and refuses more than the limit. A principal with
 * nothing open uses no memory. A tenant counts what its principals have together.
 */
export class CountedUse {
  readonly #name: LimitName;
  readonly #limit: Limit;
  readonly #onRefused: OnRefused;
  readonly #used = new Map<string, number>();
  readonly #usedByTenant = new Map<string, number>();
  #total = 0;

  constructor(name: LimitName, limit: Limit, onRefused: OnRefused = () => undefined) {
    this.#name = name;
    this.#limit = limit;
    this.#onRefused = onRefused;
  }

  get total(): number {
    return this.#total;
  }

  of(principal: string): number {
    return this.#used.get(principal) ?? 0;
  }

  /** @throws ProductError LIMIT_REACHED, OVERLOADED */
  check(principal: string): void {
    const tenant = tenantOf(principal);
    const used = {
      principal: this.of(principal),
      ...(tenant !== undefined && { tenant: this.#usedByTenant.get(tenant) ?? 0 }),
      server: this.#total,
    };
    const scope = reachedLimit(used, this.#limit);
    if (scope === undefined) return;
    this.#onRefused(this.#name, scope);
    throw limitRefusal(this.#name, scope, this.#limit);
  }

  /**
   * Takes one place. Returns a function that gives it back; further calls of that function do nothing.
   * @throws ProductError LIMIT_REACHED, OVERLOADED
   */
  take(principal: string): () => void {
    this.check(principal);
    this.#add(principal, 1);
    let taken = true;
    return () => {
      if (!taken) return;
      taken = false;
      this.#add(principal, -1);
    };
  }

  #add(principal: string, change: 1 | -1): void {
    this.#total += change;
    add(this.#used, principal, change);
    const tenant = tenantOf(principal);
    if (tenant !== undefined) add(this.#usedByTenant, tenant, change);
  }
}

function add(used: Map<string, number>, name: string, change: 1 | -1): void {
  const count = (used.get(name) ?? 0) + change;
  if (count === 0) used.delete(name);
  else used.set(name, count);
}

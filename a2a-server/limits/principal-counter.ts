import { tenantOf } from '../access/requester.ts';
import type { CountsByScope } from './limits.ts';

/**
 * Counts things per principal. The count of a tenant is the sum of its principals. A principal or tenant with a count
 * of 0 uses no memory.
 */
export class PrincipalCounter {
  readonly #byPrincipal = new Map<string, number>();
  readonly #byTenant = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(principal: string): number {
    return this.#byPrincipal.get(principal) ?? 0;
  }

  /** Returns the counts to compare with a limit. The result has no `tenant` if the principal has no tenant. */
  usedBy(principal: string): CountsByScope {
    const tenant = tenantOf(principal);
    return {
      principal: this.of(principal),
      ...(tenant !== undefined && { tenant: this.#byTenant.get(tenant) ?? 0 }),
      server: this.#total,
    };
  }

  add(principal: string, change: number): void {
    this.#total += change;
    add(this.#byPrincipal, principal, change);
    const tenant = tenantOf(principal);
    if (tenant !== undefined) add(this.#byTenant, tenant, change);
  }
}

/** Returns the sum of two counts of the same principal. */
export function addCounts(one: CountsByScope, other: CountsByScope): CountsByScope {
  return {
    principal: one.principal + other.principal,
    ...(one.tenant !== undefined && { tenant: one.tenant + (other.tenant ?? 0) }),
    server: one.server + other.server,
  };
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count === 0) counts.delete(name);
  else counts.set(name, count);
}

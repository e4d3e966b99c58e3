/** Decides which principal's task runs next. Pure. */
import { tenantOf } from '../access/requester.ts';
import { type CountsByScope, reachedLimitScope } from './limits.ts';

/** The running tasks and the weight of one principal. */
export interface PrincipalShare {
  principal: string;
  /** The running tasks of the principal, of its tenant, and of all principals. */
  running: CountsByScope;
  /** The maximum numbers of running tasks for the principal, its tenant, and all principals. */
  limit: CountsByScope;
  /** The weight of the principal. With weight 2, it gets twice as many places as with weight 1. */
  weight: number;
  /** The position of the last place that the principal got, in the order of all places given. 0 if it never got one. */
  servedAt: number;
}

/**
 * Returns the principal whose task gets the next place: the one with the fewest places in proportion to its weight.
 * Of several equal principals, returns the one with the longest wait. Undefined if no waiting task may run.
 * @param waiting the principals with a waiting task
 */
export function nextPrincipalForSlot(waiting: readonly PrincipalShare[]): string | undefined {
  const first = waiting
    .filter(({ running, limit }) => reachedLimitScope(running, limit) === undefined)
    .toSorted((a, b) => loadWithOneMore(a) - loadWithOneMore(b) || a.servedAt - b.servedAt)[0];
  return first?.principal;
}

/**
 * True if a running task should pause after a turn of its model, so that another task can run.
 *
 * - It must pause if its principal has more running tasks than its limit.
 * - It must also pause if another principal waits, and would then still have no more running tasks than this principal,
 *   in proportion to their weights. Without this comparison, the two would interrupt each other after each turn.
 */
export function shouldYieldSlot(own: PrincipalShare, waiting: readonly PrincipalShare[]): boolean {
  if (own.running.principal > own.limit.principal) return true;
  return waiting.some(
    (other) =>
      other.principal !== own.principal &&
      waitsForPlaceOf(own, other) &&
      loadWithOneMore(other) <= (own.running.principal - 1) / own.weight,
  );
}

/**
 * True if the other principal could run in the place of this one. Only the limit of their common tenant, or the limit
 * of the server, keeps it waiting.
 */
function waitsForPlaceOf(own: PrincipalShare, { principal, running, limit }: PrincipalShare): boolean {
  const scope = reachedLimitScope(running, limit);
  return scope === 'server' || (scope === 'tenant' && tenantOf(own.principal) === tenantOf(principal));
}

function loadWithOneMore({ running, weight }: PrincipalShare): number {
  return (running.principal + 1) / weight;
}

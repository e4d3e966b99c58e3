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
  /** The weight of the principal. With weight 2, it gets twice as many slots as with weight 1. */
  weight: number;
  /**
   * Each granted slot has a number. This is the number of the principal's newest slot. It is 0 if the principal has got
   * no slot since it last had no task.
   */
  servedAt: number;
}

/**
 * Returns the principal whose task gets the next slot: the one with the fewest slots in proportion to its weight. Of
 * several equal principals, returns the one with the longest wait. Undefined if no waiting task may run.
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
 * - It must also pause if a principal with fewer running tasks waits: the tasks of that principal plus one are at
 *   most the tasks of this principal minus one, in proportion to their weights. With a weaker condition, the two
 *   would interrupt each other after each turn.
 */
export function shouldYieldSlot(own: PrincipalShare, waiting: readonly PrincipalShare[]): boolean {
  if (own.running.principal > own.limit.principal) return true;
  return waiting.some(
    (other) =>
      other.principal !== own.principal &&
      waitsForSlotOf(own, other) &&
      loadWithOneMore(other) <= (own.running.principal - 1) / own.weight,
  );
}

/**
 * Returns true if the other principal could start a task as soon as this principal pauses one. Then the other principal
 * is not at its own limit: only the limit of the server, or of the tenant that both share, blocks it.
 */
function waitsForSlotOf(own: PrincipalShare, { principal, running, limit }: PrincipalShare): boolean {
  const scope = reachedLimitScope(running, limit);
  return scope === 'server' || (scope === 'tenant' && tenantOf(own.principal) === tenantOf(principal));
}

function loadWithOneMore({ running, weight }: PrincipalShare): number {
  return (running.principal + 1) / weight;
}

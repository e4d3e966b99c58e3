/** Decides which principal's task runs next. Pure. */
import type { Limit } from './limits.ts';

/** The running tasks and the weight of one principal. */
export interface Share {
  principal: string;
  running: number;
  /** A principal with weight 2 gets twice as many places as one with weight 1. */
  weight: number;
  /** Increases with each place that any principal gets. A principal that never got one has 0. */
  servedAt: number;
}

/**
 * Returns the principal whose task gets the next place: the one that has the fewest places for its weight. Among equals,
 * the one that has waited longest for a place. Undefined if no waiting task may run.
 * @param waiting the principals with a waiting task
 * @param running the number of running tasks of all principals
 */
export function nextPrincipal(
  waiting: readonly Share[],
  { limit, running }: { limit: Limit; running: number },
): string | undefined {
  if (running >= limit.server) return undefined;
  const first = waiting
    .filter((share) => share.running < limit.principal)
    .toSorted((a, b) => loadWithOneMore(a) - loadWithOneMore(b) || a.servedAt - b.servedAt)[0];
  return first?.principal;
}

/**
 * True if a running task should give its place to another principal between two turns of its model. The other principal
 * must still have less for its weight afterwards. Otherwise two principals would exchange one place again and again.
 */
export function shouldYield(
  own: Share,
  waiting: readonly Share[],
  { limit, running }: { limit: Limit; running: number },
): boolean {
  if (running < limit.server) return false;
  return waiting.some(
    (other) =>
      other.principal !== own.principal &&
      other.running < limit.principal &&
      loadWithOneMore(other) <= (own.running - 1) / own.weight,
  );
}

function loadWithOneMore({ running, weight }: Share): number {
  return (running + 1) / weight;
}

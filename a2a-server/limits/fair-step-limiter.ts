/**
 * Shares one processor fairly among principals. A step is a short piece of work, e.g. one append to the journal. While
 * several principals are active, each may run only a few steps at the same time. Each step then waits for only a few
 * steps of the other principals. If only one principal is active, it has no such limit.
 */
import type { Clock } from '../../shared/runtime/clock.ts';
import { ActivePrincipals } from './active-principals.ts';

/** The number of steps that one principal may run at the same time while other principals are active. */
const MAX_STEPS = 2;

export class FairStepLimiter {
  readonly #active: ActivePrincipals;
  readonly #inFlight = new Map<string, number>();
  /**
   * The waiting steps of each principal. A principal with a queue also has running steps. When one of them ends, the
   * next step of the queue starts.
   */
  readonly #queues = new Map<string, (() => void)[]>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#active = new ActivePrincipals(clock);
  }

  /** Runs a step of the principal's work as soon as the limit allows it. */
  async run<T>(principal: string, step: () => Promise<T>): Promise<T> {
    this.#active.add(principal);
    if (this.#mustWait(principal)) await new Promise<void>((resolve) => this.#enqueue(principal, resolve));
    this.#changeCount(principal, 1);
    try {
      return await step();
    } finally {
      // `setImmediate` lets the code that awaits the step run first.
      setImmediate(() => this.#endStep(principal));
    }
  }

  #mustWait(principal: string): boolean {
    if (this.#queues.has(principal)) return true;
    return (this.#inFlight.get(principal) ?? 0) >= MAX_STEPS && this.#active.hasOther(principal);
  }

  #enqueue(principal: string, enter: () => void): void {
    const queue = this.#queues.get(principal) ?? [];
    this.#queues.set(principal, queue);
    queue.push(enter);
  }

  #endStep(principal: string): void {
    this.#changeCount(principal, -1);
    // While the principal was alone, it may have started more steps than the limit.
    if ((this.#inFlight.get(principal) ?? 0) >= MAX_STEPS) return;
    const queue = this.#queues.get(principal);
    queue?.shift()?.();
    if (queue?.length === 0) this.#queues.delete(principal);
  }

  #changeCount(principal: string, change: 1 | -1): void {
    const count = (this.#inFlight.get(principal) ?? 0) + change;
    if (count === 0) this.#inFlight.delete(principal);
    else this.#inFlight.set(principal, count);
  }
}

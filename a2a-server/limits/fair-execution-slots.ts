/**
 * Limits how many tasks run at the same time. The other tasks wait in a queue for a slot.
 *
 * - `slot-order.ts` decides which principal's task runs next. Among the tasks of one principal, a task that has begun
 *   goes first, then the oldest.
 * - While the processor is the bottleneck and several principals are active, each may run only a few tasks. Each step
 *   of a task then waits for fewer steps of other tasks.
 * - A task whose tool asks a person a question gives its slot to another task. After the answer it gets a slot at
 *   once, even above the limit, because its tool is still running.
 */
import { type Clock, systemClock } from '../../shared/runtime/clock.ts';
import { CoarseTimer } from '../runtime/coarse-timer.ts';
import { ActivePrincipals } from './active-principals.ts';
import type { OnRefused } from './concurrency-limiter.ts';
import { ExecutionSlot, type SlotRequest } from './execution-slot.ts';
import {
  type CountsByScope,
  type Limits,
  limitRefusal,
  type LimitScope,
  minCounts,
  reachedLimitScope,
} from './limits.ts';
import { addCounts, PrincipalCounter } from './principal-counter.ts';
import { nextPrincipalForSlot, type PrincipalShare, shouldYieldSlot } from './slot-order.ts';

/**
 * The number of tasks that a principal of weight 1 may run while the server is busy and other principals are active.
 */
const TASKS_WHILE_BUSY = 3;

/** The time between two checks whether waiting tasks may run now, in milliseconds. */
const RECHECK_MS = 500;

/**
 * The timer interval of delayed refusals, in milliseconds. Refusals whose delay ends in one interval are sent together.
 */
const REFUSAL_INTERVAL_MS = 100;

/** While the server is busy, it delays each refusal by a random time between these two, in milliseconds. */
const REFUSAL_DELAY_MS = { least: 250, most: 750 };

export type PrincipalWeights = Readonly<Record<string, number>>;

interface FairExecutionSlotsOptions {
  /** Returns the limits that apply now. */
  limits: () => Pick<Limits, 'executions' | 'queuedTasks'>;
  /** Returns the weights of principals that apply now. The default weight is 1. */
  weights?: () => PrincipalWeights;
  onRefused?: OnRefused;
  /** Returns true while the processor is the bottleneck. The default always returns false. */
  busy?: () => boolean;
  /** The default is the system's clock. */
  clock?: Clock;
  /** Returns a number from 0 to 1. The default is `Math.random`. */
  random?: () => number;
}

export class FairExecutionSlots {
  readonly #options: FairExecutionSlotsOptions;
  readonly #queues = new Map<string, ExecutionSlot[]>();
  readonly #running = new PrincipalCounter();
  readonly #waiting = new PrincipalCounter();
  readonly #reserved = new PrincipalCounter();
  readonly #servedAt = new Map<string, number>();
  readonly #clock: Clock;
  readonly #active: ActivePrincipals;
  readonly #refusals: CoarseTimer;
  #served = 0;
  #rechecks = false;

  constructor(options: FairExecutionSlotsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#active = new ActivePrincipals(this.#clock);
    this.#refusals = new CoarseTimer(this.#clock, REFUSAL_INTERVAL_MS);
  }

  get running(): number {
    return this.#running.total;
  }

  get waiting(): number {
    return this.#waiting.total;
  }

  get limit(): CountsByScope {
    return this.#options.limits().executions;
  }

  /** Gives slots to waiting tasks after the limits or the weights have changed. */
  limitsChanged(): void {
    this.#grantFreeSlots();
  }

  /** True if a task of the principal could run at once. */
  isFree(principal: string): boolean {
    // The queue does not matter here. If tasks wait although the server has a free slot, their principals or tenants
    // have reached their own limits.
    return reachedLimitScope(this.#running.usedBy(principal), this.#limitOf(principal)) === undefined;
  }

  /** Asks for a slot. If a slot is free, the task runs at once. */
  request(request: SlotRequest): ExecutionSlot {
    const slot = new ExecutionSlot(this, request);
    this.#active.add(request.principal);
    this.#enqueue(slot);
    this.#grantFreeSlots();
    slot.reportedAhead = slot.ahead;
    return slot;
  }

  /**
   * Checks, before a task is created, that the queue has space for it. Call the returned function as soon as the task
   * is in the queue, or if it was not created.
   * @throws ProductError LIMIT_REACHED, OVERLOADED
   */
  async reserve(principal: string): Promise<() => void> {
    // No other code may run between the check and the reservation. So this function awaits only while the queue is
    // full.
    while (!this.hasSpace(principal)) await this.requireSpace(principal);
    this.#reserved.add(principal, 1);
    return () => this.#reserved.add(principal, -1);
  }

  /** True if the queue has space for a new task of the principal. */
  hasSpace(principal: string): boolean {
    return this.#fullScope(principal) === undefined;
  }

  /**
   * Refuses if the queue has no space for a new task of the principal. While the server is busy, the refusal is
   * delayed.
   * @throws ProductError LIMIT_REACHED, OVERLOADED
   */
  async requireSpace(principal: string): Promise<void> {
    const scope = this.#fullScope(principal);
    if (scope === undefined) return;
    const limit = this.#queueLimit();
    this.#options.onRefused?.('queuedTasks', scope);
    if (this.#isBusy()) await this.#refusalDelay();
    throw limitRefusal({ name: 'queuedTasks', scope, limit });
  }

  #fullScope(principal: string): LimitScope | undefined {
    if (this.isFree(principal)) return undefined;
    const used = addCounts(this.#waiting.usedBy(principal), this.#reserved.usedBy(principal));
    return reachedLimitScope(used, this.#queueLimit());
  }

  /**
   * Returns the maximum length of the queue. Accepting a task also takes processor time, and a busy server then has
   * less time to run the accepted tasks. So the queue of a busy server is no longer than the number of tasks that may
   * run.
   */
  #queueLimit(): CountsByScope {
    const { queuedTasks, executions } = this.#options.limits();
    return this.#isBusy() ? minCounts(queuedTasks, executions) : queuedTasks;
  }

  /**
   * Delays a refusal, because many clients repeat a refused message immediately, and each refusal takes processor
   * time. The delay is random, so that the clients do not all return at the same moment.
   */
  #refusalDelay(): Promise<void> {
    const { least, most } = REFUSAL_DELAY_MS;
    const { random = Math.random } = this.#options;
    return this.#refusals.wait(least + random() * (most - least));
  }

  #isBusy(): boolean {
    return this.#options.busy?.() ?? false;
  }

  /** Returns the limit of running tasks that applies to a principal now. */
  #limitOf(principal: string): CountsByScope {
    const { limit } = this;
    if (!this.#isBusy() || !this.#othersAreActive(principal)) return limit;
    const tasks = Math.max(1, Math.round(TASKS_WHILE_BUSY * this.#weightOf(principal)));
    return { ...limit, principal: Math.min(limit.principal, tasks) };
  }

  #othersAreActive(principal: string): boolean {
    return this.#running.total > this.#running.of(principal) || this.#active.hasOther(principal);
  }

  aheadOf(slot: ExecutionSlot): number {
    return Math.max(0, this.#queues.get(slot.principal)?.indexOf(slot) ?? 0);
  }

  /** Removes a task from the queue, or frees its slot. @param before the state of the task until now */
  removeOrFree(slot: ExecutionSlot, before: ExecutionSlot['state']): void {
    if (before === 'running') this.lend(slot.principal);
    else {
      const queue = this.#queues.get(slot.principal);
      queue?.splice(queue.indexOf(slot), 1);
      this.#waiting.add(slot.principal, -1);
      this.#afterLeaving(slot.principal);
    }
  }

  isOverShare(principal: string): boolean {
    return shouldYieldSlot(this.#shareOf(principal), this.#waitingShares());
  }

  /** Puts a running task back into its queue, before all new tasks, and gives its slot to another task. */
  requeue(slot: ExecutionSlot): void {
    this.#enqueue(slot);
    this.lend(slot.principal);
    slot.reportedAhead = slot.ahead;
  }

  lend(principal: string): void {
    this.#running.add(principal, -1);
    this.#forget(principal);
    this.#grantFreeSlots();
  }

  resume(principal: string): void {
    this.#running.add(principal, 1);
  }

  #enqueue(slot: ExecutionSlot): void {
    const queue = this.#queues.get(slot.principal) ?? [];
    this.#queues.set(slot.principal, queue);
    const firstNew = queue.findIndex(({ begun }) => !begun);
    if (slot.begun && firstNew !== -1) queue.splice(firstNew, 0, slot);
    else queue.push(slot);
    this.#waiting.add(slot.principal, 1);
  }

  #grantFreeSlots(): void {
    for (;;) {
      const principal = nextPrincipalForSlot(this.#waitingShares());
      const slot = principal === undefined ? undefined : this.#queues.get(principal)?.shift();
      if (principal === undefined || slot === undefined) break;
      this.#waiting.add(principal, -1);
      this.#servedAt.set(principal, (this.#served += 1));
      this.resume(principal);
      slot.grant();
      this.#afterLeaving(principal);
    }
    this.#recheckLater();
  }

  /**
   * No event reports that the server is no longer busy. So a timer checks the waiting tasks again. The timer also runs
   * if the server is not busy now, because tasks may have waited since an earlier busy time.
   */
  #recheckLater(): void {
    if (this.#rechecks || this.#options.busy === undefined || this.#waiting.total === 0) return;
    this.#rechecks = true;
    this.#clock.after(RECHECK_MS, () => {
      this.#rechecks = false;
      this.#grantFreeSlots();
    });
  }

  #afterLeaving(principal: string): void {
    const queue = this.#queues.get(principal) ?? [];
    if (queue.length === 0) this.#queues.delete(principal);
    this.#forget(principal);
    for (const [ahead, slot] of queue.entries())
      if (ahead < slot.reportedAhead && ahead * 2 <= slot.reportedAhead) {
        slot.reportedAhead = ahead;
        slot.onMoved();
      }
  }

  /** Removes a principal without tasks, so that it uses no memory. */
  #forget(principal: string): void {
    if (!this.#queues.has(principal) && this.#running.of(principal) === 0) this.#servedAt.delete(principal);
  }

  #waitingShares(): PrincipalShare[] {
    return [...this.#queues.keys()].map((principal) => this.#shareOf(principal));
  }

  #weightOf(principal: string): number {
    const weights = this.#options.weights?.() ?? {};
    return Object.hasOwn(weights, principal) ? (weights[principal] ?? 1) : 1;
  }

  #shareOf(principal: string): PrincipalShare {
    return {
      principal,
      running: this.#running.usedBy(principal),
      limit: this.#limitOf(principal),
      weight: this.#weightOf(principal),
      servedAt: this.#servedAt.get(principal) ?? 0,
    };
  }
}

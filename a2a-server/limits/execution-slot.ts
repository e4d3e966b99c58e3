import { Deferred } from '../../shared/runtime/deferred.ts';
import type { FairExecutionSlots } from './fair-execution-slots.ts';

export interface SlotRequest {
  principal: string;
  /** True if the task has run before. */
  begun: boolean;
  /** Called each time the number of tasks ahead of this one has halved. Only tasks of the same principal count. */
  onMoved?: () => void;
}

/** The slot of one task. The task waits for it in the queue, or runs in it. */
export class ExecutionSlot {
  readonly principal: string;
  readonly onMoved: () => void;
  readonly #slots: FairExecutionSlots;
  #begun: boolean;
  #holders = 0;
  #granted = new Deferred<boolean>();
  state: 'waiting' | 'running' | 'over' = 'waiting';
  /**
   * The last reported number of the principal's tasks ahead of this one. Set when the task enters the queue and before
   * each call of `onMoved`. Infinity until then.
   */
  reportedAhead = Infinity;

  constructor(slots: FairExecutionSlots, { principal, begun, onMoved = () => undefined }: SlotRequest) {
    this.#slots = slots;
    this.principal = principal;
    this.#begun = begun;
    this.onMoved = onMoved;
  }

  get begun(): boolean {
    return this.#begun;
  }

  /** Resolves with true when the task may run, and with false if the task left the queue before that. */
  get granted(): Promise<boolean> {
    return this.#granted.promise;
  }

  /** The number of tasks of the same principal that are ahead of this one in the queue. */
  get ahead(): number {
    return this.#slots.aheadOf(this);
  }

  /** `FairExecutionSlots` calls this when the task may run. */
  grant(): void {
    this.state = 'running';
    this.#begun = true;
    this.#granted.resolve(true);
  }

  /** Removes the task from the queue, or frees its slot. A second call does nothing. */
  end(): void {
    if (this.state === 'over') return;
    const before = this.state;
    this.state = 'over';
    this.#granted.resolve(false);
    this.#slots.removeOrFree(this, before);
  }

  /**
   * Gives the slot to another principal's task if `shouldYieldSlot` demands it, and returns a promise that resolves
   * like `granted`. Otherwise returns undefined.
   */
  passToOtherPrincipal(): Promise<boolean> | undefined {
    if (this.state !== 'running' || !this.#slots.isOverShare(this.principal)) return undefined;
    this.state = 'waiting';
    this.#granted = new Deferred();
    this.#slots.requeue(this);
    return this.#granted.promise;
  }

  /**
   * Gives the slot of a running task to other tasks while its tools wait for a person. Returns a function that ends
   * this wait. When each caller of `hold` has called its function, the task has its slot again. Until then, the caller
   * must not end the slot (`end`).
   */
  hold(): () => void {
    this.#holders += 1;
    if (this.#holders === 1) this.#slots.lend(this.principal);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holders -= 1;
      if (this.#holders === 0) this.#slots.resume(this.principal);
    };
  }
}

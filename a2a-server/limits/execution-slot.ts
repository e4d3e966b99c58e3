import { Deferred } from '../../shared/client/core/deferred.ts';

export interface SlotRequest {
  principal: string;
  /** True if the task has run before. */
  begun: boolean;
  /** Called each time the number of tasks ahead of this one has halved. Only tasks of the same principal count. */
  onMoved?: () => void;
}

/** The queue that grants the slots. */
export interface SlotQueue {
  /** Returns the number of tasks of the same principal that are ahead in the queue. */
  aheadOf(slot: ExecutionSlot): number;
  /** Removes a task from the queue, or frees its slot. @param before the state of the task until now */
  removeOrFree(slot: ExecutionSlot, before: ExecutionSlot['state']): void;
  /** True if the principal's task must give its slot to another principal's task. */
  isOverShare(principal: string): boolean;
  /** Puts a running task back into its queue, before all new tasks, and gives its slot to another task. */
  requeue(slot: ExecutionSlot): void;
  /** Gives one of the principal's slots to another task. */
  lend(principal: string): void;
  /** Takes back a slot that was lent, even above the limit. */
  resume(principal: string): void;
}

/** The slot of one task. The task waits for it in the queue, or runs in it. */
export class ExecutionSlot {
  readonly principal: string;
  readonly onMoved: () => void;
  readonly #queue: SlotQueue;
  #begun: boolean;
  #holders = 0;
  #granted = new Deferred<boolean>();
  state: 'waiting' | 'running' | 'over' = 'waiting';
  /**
   * The last reported number of the principal's tasks ahead of this one. Set when the task enters the queue and before
   * each call of `onMoved`. Infinity until then.
   */
  reportedAhead = Infinity;

  constructor(queue: SlotQueue, { principal, begun, onMoved = () => undefined }: SlotRequest) {
    this.#queue = queue;
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
    return this.#queue.aheadOf(this);
  }

  /** The queue calls this when the task may run. */
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
    this.#queue.removeOrFree(this, before);
  }

  /**
   * Gives the slot to another principal's task if `shouldYieldSlot` demands it, and returns a promise that resolves
   * like `granted`. Otherwise returns undefined.
   */
  passToOtherPrincipal(): Promise<boolean> | undefined {
    if (this.state !== 'running' || !this.#queue.isOverShare(this.principal)) return undefined;
    this.state = 'waiting';
    this.#granted = new Deferred();
    this.#queue.requeue(this);
    return this.#granted.promise;
  }

  /**
   * Gives the slot of a running task to other tasks while its tools wait for a person. Returns a function that ends
   * this wait. When each caller of `hold` has called its function, the task has its slot again. Until then, the caller
   * must not end the slot (`end`).
   */
  hold(): () => void {
    this.#holders += 1;
    if (this.#holders === 1) this.#queue.lend(this.principal);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holders -= 1;
      if (this.#holders === 0) this.#queue.resume(this.principal);
    };
  }
}

/**
 * Limits how many tasks run at the same time. The other tasks wait in a queue for their turn.
 *
 * - `turn-order.ts` decides which principal's task runs next. Among the tasks of one principal, a task that has begun
 *   goes first, then the oldest.
 * - A task whose tool asks a person a question gives its place to another task. After the answer it gets a place at
 *   once, even above the limit, because its tool is still running.
 */
import { Deferred } from '../../shared/client/core/deferred.ts';
import type { OnRefused } from './counted-use.ts';
import { type Limit, type Limits, limitRefusal, lowerOf, reachedLimit } from './limits.ts';
import { sumOf, Tally } from './tally.ts';
import { nextPrincipal, type Share, shouldYield } from './turn-order.ts';

export type Weights = Readonly<Record<string, number>>;

interface FairTurnsOptions {
  /** Returns the limits that apply now. */
  limits: () => Pick<Limits, 'executions' | 'queuedTasks'>;
  /** Returns the weights of principals that apply now. The default weight is 1. */
  weights?: () => Weights;
  onRefused?: OnRefused;
  /** Returns true while the processor is the bottleneck. The default always returns false. */
  busy?: () => boolean;
}

interface TurnRequest {
  principal: string;
  /** True if the task has run before. */
  begun: boolean;
  /** Called each time the number of the principal's tasks ahead of this one has halved. */
  onMoved?: () => void;
}

/** The place of one task, either in the queue or among the running tasks. */
export class Turn {
  readonly principal: string;
  readonly onMoved: () => void;
  readonly #turns: FairTurns;
  #begun: boolean;
  #holders = 0;
  #granted = new Deferred<boolean>();
  state: 'waiting' | 'running' | 'over' = 'waiting';
  /** The value of `ahead` at the last call of `onMoved`. */
  reportedAhead = Infinity;

  constructor(turns: FairTurns, { principal, begun, onMoved = () => undefined }: TurnRequest) {
    this.#turns = turns;
    this.principal = principal;
    this.#begun = begun;
    this.onMoved = onMoved;
  }

  get begun(): boolean {
    return this.#begun;
  }

  /** Resolves with true when the task may run, and with false if the turn ended before that. */
  get granted(): Promise<boolean> {
    return this.#granted.promise;
  }

  /** The number of tasks of the same principal that are ahead of this one in the queue. */
  get ahead(): number {
    return this.#turns.aheadOf(this);
  }

  /** `FairTurns` calls this when the task may run. */
  grant(): void {
    this.state = 'running';
    this.#begun = true;
    this.#granted.resolve(true);
  }

  /** Ends the turn of a task that waits or runs. A second call does nothing. */
  end(): void {
    if (this.state === 'over') return;
    const before = this.state;
    this.state = 'over';
    this.#granted.resolve(false);
    this.#turns.left(this, before);
  }

  /**
   * Gives the place to another principal's task, if that principal has fewer places in proportion to its weight.
   * Returns undefined if there is no such principal. Otherwise returns a promise that resolves like `granted`.
   */
  pass(): Promise<boolean> | undefined {
    if (this.state !== 'running' || !this.#turns.isOverShare(this.principal)) return undefined;
    this.state = 'waiting';
    this.#granted = new Deferred();
    this.#turns.requeue(this);
    return this.#granted.promise;
  }

  /**
   * Gives the place of a running task to other tasks while its tools wait for a person. Returns a function that ends
   * one such wait. The task has its place again when every caller has called its function. The turn must not end before
   * that.
   */
  hold(): () => void {
    this.#holders += 1;
    if (this.#holders === 1) this.#turns.rest(this.principal);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holders -= 1;
      if (this.#holders === 0) this.#turns.resume(this.principal);
    };
  }
}

export class FairTurns {
  readonly #options: FairTurnsOptions;
  readonly #queues = new Map<string, Turn[]>();
  readonly #running = new Tally();
  readonly #waiting = new Tally();
  readonly #reserved = new Tally();
  readonly #servedAt = new Map<string, number>();
  #served = 0;

  constructor(options: FairTurnsOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running.total;
  }

  get waiting(): number {
    return this.#waiting.total;
  }

  get limit(): Limit {
    return this.#options.limits().executions;
  }

  /** Gives places to waiting tasks after the limits or the weights have changed. */
  limitsChanged(): void {
    this.#serve();
  }

  /** True if a task of the principal could run at once. */
  isFree(principal: string): boolean {
    // If others wait although the server has a place, they have reached their own limit.
    return reachedLimit(this.#running.usedBy(principal), this.limit) === undefined;
  }

  /** Asks for a place. If a place is free, the task runs at once. */
  request(request: TurnRequest): Turn {
    const turn = new Turn(this, request);
    this.#enqueue(turn);
    this.#serve();
    turn.reportedAhead = turn.ahead;
    return turn;
  }

  /**
   * Checks, before a task is created, that the queue has space for it. Call the returned function once the task is in
   * the queue, or was not created.
   * @throws ProductError LIMIT_REACHED, OVERLOADED
   */
  reserve(principal: string): () => void {
    const queuedTasks = this.#queueLimit();
    if (!this.isFree(principal)) {
      const used = sumOf(this.#waiting.usedBy(principal), this.#reserved.usedBy(principal));
      const scope = reachedLimit(used, queuedTasks);
      if (scope !== undefined) {
        this.#options.onRefused?.('queuedTasks', scope);
        throw limitRefusal('queuedTasks', scope, queuedTasks);
      }
    }
    this.#reserved.add(principal, 1);
    return () => this.#reserved.add(principal, -1);
  }

  /**
   * Returns the maximum length of the queue. Accepting a task also takes processor time, and a busy server then has
   * less time to run the accepted tasks. So the queue of a busy server is no longer than the number of tasks that may
   * run.
   */
  #queueLimit(): Limit {
    const { queuedTasks, executions } = this.#options.limits();
    if (this.#options.busy?.() !== true) return queuedTasks;
    return lowerOf(queuedTasks, executions);
  }

  aheadOf(turn: Turn): number {
    return Math.max(0, this.#queues.get(turn.principal)?.indexOf(turn) ?? 0);
  }

  /** Frees the place of an ended turn. */
  left(turn: Turn, before: Turn['state']): void {
    if (before === 'running') this.rest(turn.principal);
    else {
      const queue = this.#queues.get(turn.principal);
      queue?.splice(queue.indexOf(turn), 1);
      this.#waiting.add(turn.principal, -1);
      this.#afterLeaving(turn.principal);
    }
  }

  isOverShare(principal: string): boolean {
    return shouldYield(this.#shareOf(principal), this.#waitingShares(), this.limit);
  }

  /** Moves a running task to the front of its queue, and gives its place to another task. */
  requeue(turn: Turn): void {
    this.#enqueue(turn);
    this.rest(turn.principal);
    turn.reportedAhead = turn.ahead;
  }

  rest(principal: string): void {
    this.#running.add(principal, -1);
    this.#forget(principal);
    this.#serve();
  }

  resume(principal: string): void {
    this.#running.add(principal, 1);
  }

  #enqueue(turn: Turn): void {
    const queue = this.#queues.get(turn.principal) ?? [];
    this.#queues.set(turn.principal, queue);
    const firstNew = queue.findIndex(({ begun }) => !begun);
    if (turn.begun && firstNew !== -1) queue.splice(firstNew, 0, turn);
    else queue.push(turn);
    this.#waiting.add(turn.principal, 1);
  }

  #serve(): void {
    for (;;) {
      const principal = nextPrincipal(this.#waitingShares(), this.limit);
      const turn = principal === undefined ? undefined : this.#queues.get(principal)?.shift();
      if (principal === undefined || turn === undefined) return;
      this.#waiting.add(principal, -1);
      this.#servedAt.set(principal, (this.#served += 1));
      this.resume(principal);
      turn.grant();
      this.#afterLeaving(principal);
    }
  }

  #afterLeaving(principal: string): void {
    const queue = this.#queues.get(principal) ?? [];
    if (queue.length === 0) this.#queues.delete(principal);
    this.#forget(principal);
    for (const [ahead, turn] of queue.entries())
      if (ahead < turn.reportedAhead && ahead * 2 <= turn.reportedAhead) {
        turn.reportedAhead = ahead;
        turn.onMoved();
      }
  }

  /** Removes a principal without tasks, so that it uses no memory. */
  #forget(principal: string): void {
    if (!this.#queues.has(principal) && this.#running.of(principal) === 0) this.#servedAt.delete(principal);
  }

  #waitingShares(): Share[] {
    return [...this.#queues.keys()].map((principal) => this.#shareOf(principal));
  }

  #shareOf(principal: string): Share {
    const weights = this.#options.weights?.() ?? {};
    return {
      principal,
      running: this.#running.usedBy(principal),
      weight: Object.hasOwn(weights, principal) ? (weights[principal] ?? 1) : 1,
      servedAt: this.#servedAt.get(principal) ?? 0,
    };
  }
}

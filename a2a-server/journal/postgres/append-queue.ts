/**
 * Group commit over a network: items that arrive during a commit share the next commit.
 *
 * - Items are committed in the order of their arrival, each in exactly one commit.
 * - A failed commit affects only its own items.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CommitOutcome } from '../../../shared/sqlite/group-commit.ts';

interface AppendQueueOptions<Item, Result> {
  /** Commits the items and returns their outcomes, in order. */
  commit: (items: readonly Item[]) => Promise<readonly CommitOutcome<Result>[]>;
  weigh: (item: Item) => number;
  /** The maximum weight of one commit. */
  weightPerCommit: number;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export class AppendQueue<Item, Result> {
  readonly #options: AppendQueueOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  #running: Promise<void> | undefined;

  constructor(options: AppendQueueOptions<Item, Result>) {
    this.#options = options;
  }

  /** Resolves with the item's result after its commit. Rejects with its refusal, or with the error of the commit. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Resolves when all items are settled. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // Items that are added in the same turn of the event loop share the first commit.
    await nextTurn();
    while (this.#waiting.length > 0) await this.#commit(this.#take());
    this.#running = undefined;
  }

  #take(): Waiting<Item, Result>[] {
    const { weigh, weightPerCommit } = this.#options;
    let count = 0;
    for (let weight = 0; count < this.#waiting.length && weight < weightPerCommit; count += 1) {
      const next = this.#waiting[count];
      if (next !== undefined) weight += weigh(next.item);
    }
    return this.#waiting.splice(0, count);
  }

  async #commit(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const outcomes = await this.#options.commit(group.map(({ item }) => item));
      group.forEach(({ resolve, reject }, index) => {
        const outcome = outcomes[index];
        if (outcome?.type === 'done') resolve(outcome.result);
        else reject(outcome?.error ?? new Error('the commit told no outcome for this item'));
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}

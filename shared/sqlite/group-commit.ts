/**
 * Group commit: items that are added in one event-loop turn share one commit. Items that arrive during that commit
 * share the next commit.
 *
 * - Items are committed in the order of their arrival, each in exactly one commit.
 * - Each item's promise settles with its own outcome, or with the error of its commit.
 * - A failed commit affects only its own items.
 */
import { setImmediate } from 'node:timers';

/** The outcome of one item in a successful commit. A refused item does not affect other items. */
export type CommitOutcome<Result> = { type: 'done'; result: Result } | { type: 'refused'; error: Error };

interface GroupCommitOptions<Item, Result> {
  /**
   * Commits the items and returns their outcomes, in order. If this function throws, none of the items is committed.
   */
  commit: (items: readonly Item[]) => readonly CommitOutcome<Result>[];
  weigh: (item: Item) => number;
  /** The maximum weight of one commit. It limits how long a commit blocks the event loop. */
  weightPerCommit: number;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export class GroupCommit<Item, Result> {
  readonly #options: GroupCommitOptions<Item, Result>;
  #waiting: Waiting<Item, Result>[] = [];
  #scheduled = false;

  constructor(options: GroupCommitOptions<Item, Result>) {
    this.#options = options;
  }

  /**
   * Resolves with the item's result after its commit. Rejects with the item's refusal, or with the error of the commit.
   */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  flush(): void {
    while (this.#waiting.length > 0) this.#commit(this.#take());
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#commit(this.#take());
      if (this.#waiting.length > 0) this.#schedule();
    });
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

  #commit(group: readonly Waiting<Item, Result>[]): void {
    if (group.length === 0) return;
    try {
      const outcomes = this.#options.commit(group.map(({ item }) => item));
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

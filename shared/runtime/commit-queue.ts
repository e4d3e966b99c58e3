/**
 * A queue of items that wait for a commit (a database transaction). One commit takes the oldest items as a group. After
 * the commit, the promise of each item settles. If a commit fails, only the items of its group fail.
 */

/** The outcome of one item in a successful commit. The commit may refuse single items and store the others. */
export type CommitOutcome<Result> = { type: 'done'; result: Result } | { type: 'refused'; error: Error };

interface WaitingItem<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export interface CommitGroupLimit<Item> {
  weigh: (item: Item) => number;
  /** The maximum weight of one group. A group contains at least one item, even if that item is heavier. */
  weightPerCommit: number;
}

export class CommitQueue<Item, Result> {
  readonly #limit: CommitGroupLimit<Item>;
  readonly #waiting: WaitingItem<Item, Result>[] = [];

  constructor(limit: CommitGroupLimit<Item>) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /**
   * Adds an item. The promise resolves with the item's result after the commit. It rejects if the commit refuses the
   * item or fails.
   */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
    });
  }

  /** Removes the oldest items from the queue and returns them as the next group. */
  take(): CommitGroup<Item, Result> {
    const { weigh, weightPerCommit } = this.#limit;
    let count = 0;
    for (let weight = 0; count < this.#waiting.length && weight < weightPerCommit; count += 1) {
      const next = this.#waiting[count];
      if (next !== undefined) weight += weigh(next.item);
    }
    return new CommitGroup(this.#waiting.splice(0, count));
  }
}

class CommitGroup<Item, Result> {
  readonly #members: readonly WaitingItem<Item, Result>[];

  constructor(members: readonly WaitingItem<Item, Result>[]) {
    this.#members = members;
  }

  get items(): Item[] {
    return this.#members.map(({ item }) => item);
  }

  /** Settles the promises of the group after a successful commit. @param outcomes the outcome of each item, in order */
  settle(outcomes: readonly CommitOutcome<Result>[]): void {
    this.#members.forEach(({ resolve, reject }, index) => {
      const outcome = outcomes[index];
      if (outcome?.type === 'done') resolve(outcome.result);
      else reject(outcome?.error ?? new Error('the commit told no outcome for this item'));
    });
  }

  /** Rejects the promises of all items, because the whole commit failed. */
  fail(error: unknown): void {
    for (const { reject } of this.#members) reject(error);
  }
}

/**
 * Items that wait for a commit. A commit takes the oldest of them as a group, and settles the promise of each. A failed
 * commit affects only its own items.
 */

/** The outcome of one item in a successful commit. A refused item does not affect other items. */
export type CommitOutcome<Result> = { type: 'done'; result: Result } | { type: 'refused'; error: Error };

interface WaitingItem<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export interface GroupLimit<Item> {
  weigh: (item: Item) => number;
  /** The maximum weight of one group. A group always has at least one item. */
  weightPerCommit: number;
}

export class WaitingItems<Item, Result> {
  readonly #limit: GroupLimit<Item>;
  readonly #waiting: WaitingItem<Item, Result>[] = [];

  constructor(limit: GroupLimit<Item>) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Resolves with the item's result after its commit. Rejects with its refusal, or with the error of the commit. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
    });
  }

  /** Takes the next group, in the order of arrival. */
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

export class CommitGroup<Item, Result> {
  readonly #members: readonly WaitingItem<Item, Result>[];

  constructor(members: readonly WaitingItem<Item, Result>[]) {
    this.#members = members;
  }

  get items(): Item[] {
    return this.#members.map(({ item }) => item);
  }

  /** @param outcomes one for each item, in order */
  settle(outcomes: readonly CommitOutcome<Result>[]): void {
    this.#members.forEach(({ resolve, reject }, index) => {
      const outcome = outcomes[index];
      if (outcome?.type === 'done') resolve(outcome.result);
      else reject(outcome?.error ?? new Error('the commit told no outcome for this item'));
    });
  }

  /** The whole commit failed. */
  fail(error: unknown): void {
    for (const { reject } of this.#members) reject(error);
  }
}

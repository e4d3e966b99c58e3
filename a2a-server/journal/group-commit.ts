/**
 * Work that arrives together is committed together: what is added in one turn of the event loop shares one commit,
 * and whatever arrives while that commit runs shares the next.
 *
 * Invariants
 * - Items are committed in the order they were added, each in exactly one commit.
 * - Every item's promise settles: with its own outcome, or, when its commit failed, with that failure.
 * - A failed commit concerns the items of that commit alone.
 */
import { setImmediate } from 'node:timers';

/** What became of one item of a commit that succeeded: an item may be refused without concerning its neighbours. */
export type Outcome<Result> = { type: 'done'; result: Result } | { type: 'refused'; error: Error };

export interface GroupCommitOptions<Item, Result> {
  /** Commits the items and tells the outcome of each, in order. When it throws, nothing of them was committed. */
  commit: (items: readonly Item[]) => readonly Outcome<Result>[];
  weigh: (item: Item) => number;
  /** A commit takes items until their weight reaches this, so that a flood leaves the event loop room to breathe. */
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

  /** @returns the item's outcome, once it is committed. Rejects with its refusal, or with what its commit threw. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  /** Commits all that waits, now. */
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

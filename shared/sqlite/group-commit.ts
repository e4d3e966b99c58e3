/**
 * Group commit: items that are added in one event-loop turn share one commit. Items that arrive during that commit
 * share the next commit.
 */
import { setImmediate } from 'node:timers';
import { type CommitOutcome, type GroupLimit, WaitingItems } from '../runtime/waiting-items.ts';

interface GroupCommitOptions<Item, Result> extends GroupLimit<Item> {
  /**
   * Commits the items and returns their outcomes, in order. If this function throws, none of the items is committed. It
   * blocks the event loop, so `weightPerCommit` limits its time.
   */
  commit: (items: readonly Item[]) => readonly CommitOutcome<Result>[];
}

export class GroupCommit<Item, Result> {
  readonly #commit: GroupCommitOptions<Item, Result>['commit'];
  readonly #waiting: WaitingItems<Item, Result>;
  #scheduled = false;

  constructor({ commit, ...limit }: GroupCommitOptions<Item, Result>) {
    this.#commit = commit;
    this.#waiting = new WaitingItems(limit);
  }

  /**
   * Resolves with the item's result after its commit. Rejects with the item's refusal, or with the error of the commit.
   */
  add(item: Item): Promise<Result> {
    const result = this.#waiting.add(item);
    this.#schedule();
    return result;
  }

  flush(): void {
    while (!this.#waiting.isEmpty) this.#commitNext();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#commitNext();
      if (!this.#waiting.isEmpty) this.#schedule();
    });
  }

  #commitNext(): void {
    // After a flush, no item may be left.
    if (this.#waiting.isEmpty) return;
    const group = this.#waiting.take();
    try {
      group.settle(this.#commit(group.items));
    } catch (error) {
      group.fail(error);
    }
  }
}

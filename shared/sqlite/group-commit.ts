/**
 * Group commit: all items that are added in one turn of the event loop share one commit (a database transaction). Items
 * that arrive during a commit share the next one.
 */
import { setImmediate } from 'node:timers';
import { type CommitOutcome, type CommitGroupLimit, CommitQueue } from '../runtime/commit-queue.ts';

interface GroupCommitOptions<Item, Result> extends CommitGroupLimit<Item> {
  /**
   * Commits the items and returns their outcomes in the same order. If it throws, none of the items is committed. It
   * blocks the event loop. `weightPerCommit` limits how long.
   */
  commit: (items: readonly Item[]) => readonly CommitOutcome<Result>[];
}

export class GroupCommit<Item, Result> {
  readonly #commit: GroupCommitOptions<Item, Result>['commit'];
  readonly #waiting: CommitQueue<Item, Result>;
  #scheduled = false;

  constructor({ commit, ...limit }: GroupCommitOptions<Item, Result>) {
    this.#commit = commit;
    this.#waiting = new CommitQueue(limit);
  }

  /**
   * Adds an item. The promise resolves with the item's result after the commit. It rejects if the commit refuses the
   * item or fails.
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
    // `flush` may have committed all items already.
    if (this.#waiting.isEmpty) return;
    const group = this.#waiting.take();
    try {
      group.settle(this.#commit(group.items));
    } catch (error) {
      group.fail(error);
    }
  }
}

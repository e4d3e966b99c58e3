/** Commits items in groups over a network: items that arrive during a commit share the next commit. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type CommitOutcome,
  type CommitGroupLimit,
  CommitQueue,
} from '../../../shared/runtime/commit-queue.ts';

interface AppendQueueOptions<Item, Result> extends CommitGroupLimit<Item> {
  /** Commits the items in one transaction, and returns their outcomes in order. */
  commit: (items: readonly Item[]) => Promise<readonly CommitOutcome<Result>[]>;
}

export class AppendQueue<Item, Result> {
  readonly #commit: AppendQueueOptions<Item, Result>['commit'];
  readonly #waiting: CommitQueue<Item, Result>;
  #running: Promise<void> | undefined;

  constructor({ commit, ...limit }: AppendQueueOptions<Item, Result>) {
    this.#commit = commit;
    this.#waiting = new CommitQueue(limit);
  }

  /**
   * Resolves with the item's result after its commit. Rejects if the commit refuses this item, or if the whole commit
   * fails.
   */
  add(item: Item): Promise<Result> {
    const result = this.#waiting.add(item);
    this.#running ??= this.#run();
    return result;
  }

  /** Resolves when all items have been committed or have failed. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    // Items that are added in the same turn of the event loop share the first commit.
    await nextTurn();
    while (!this.#waiting.isEmpty) {
      const group = this.#waiting.take();
      await this.#commit(group.items).then(
        (outcomes) => group.settle(outcomes),
        (error: unknown) => group.fail(error),
      );
    }
    this.#running = undefined;
  }
}

/**
 * Group commit: all items that are added in one turn of the event loop share one commit (a database transaction), up to
 * `weightPerCommit`. Items that arrive during a commit share the next one.
 *
 * A commit has a cost of its own, however many items share it. So soon after a commit of several items, the next commit
 * waits up to 5 ms for more items, as with `commit_delay` and `commit_siblings` of PostgreSQL. It waits only while the
 * event loop has other work to do, because that work adds the items. Items that come one at a time never wait.
 */
import { setImmediate, setTimeout } from 'node:timers';
import { type CommitOutcome, type CommitGroupLimit, CommitQueue } from '../runtime/commit-queue.ts';

/** If a commit of several items ended less than this many milliseconds ago, the next commit waits for more items. */
const SOON_MS = 20;
/** The next commit waits at most this many times as long as the last commit took. */
const WAIT_PER_COMMIT = 4;
const MAX_WAIT_MS = 5;
/** A commit that waits checks the event loop this often, in milliseconds. */
const CHECK_MS = 1;
/** If the event loop was idle for this part of the time between two checks, the wait ends. */
const IDLE_PART = 0.5;

/** The clock of a `GroupCommit`. Tests replace it. */
interface CommitTiming {
  /** The time since any fixed moment, in milliseconds. */
  now(): number;
  /** How long the event loop has been idle since any fixed moment, in milliseconds. */
  idle(): number;
  after(ms: number, act: () => void): unknown;
}

const REAL_TIMING: CommitTiming = {
  now: () => performance.now(),
  idle: () => performance.eventLoopUtilization().idle,
  after: (ms, act) => setTimeout(act, ms),
};

interface GroupCommitOptions<Item, Result> extends CommitGroupLimit<Item> {
  /**
   * Commits the items and returns their outcomes in the same order. If this function throws, none of the items is
   * committed. A commit blocks the event loop. `weightPerCommit` limits how long.
   */
  commit: (items: readonly Item[]) => readonly CommitOutcome<Result>[];
  timing?: CommitTiming;
}

export class GroupCommit<Item, Result> {
  readonly #commit: GroupCommitOptions<Item, Result>['commit'];
  readonly #waiting: CommitQueue<Item, Result>;
  readonly #timing: CommitTiming;
  #scheduled = false;
  /** The last commit, if it had several items. */
  #lastShared: { ended: number; took: number } | undefined;

  constructor({ commit, timing = REAL_TIMING, ...limit }: GroupCommitOptions<Item, Result>) {
    this.#commit = commit;
    this.#timing = timing;
    this.#waiting = new CommitQueue(limit);
  }

  /**
   * Adds an item. The promise resolves with the item's result after the commit. It rejects if the commit refuses the
   * item or fails.
   */
  add(item: Item): Promise<Result> {
    const result = this.#waiting.add(item);
    this.#schedule(this.#waitForMore());
    return result;
  }

  flush(): void {
    while (!this.#waiting.isEmpty) this.#commitNext();
  }

  #schedule(wait: number): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const commit = (): void => {
      this.#commitNext();
      this.#scheduled = false;
      // The items that did not fit into this commit have already waited, so their commit does not wait again.
      if (!this.#waiting.isEmpty) this.#schedule(0);
    };
    if (wait > 0) this.#whenIdle(this.#timing.now() + wait, commit);
    else setImmediate(commit);
  }

  /** Calls `commit` when the event loop has become idle, or at the deadline. */
  #whenIdle(deadline: number, commit: () => void): void {
    const idle = this.#timing.idle();
    this.#timing.after(CHECK_MS, () => {
      const isIdle = this.#timing.idle() - idle >= IDLE_PART * CHECK_MS;
      if (isIdle || this.#timing.now() >= deadline) commit();
      else this.#whenIdle(deadline, commit);
    });
  }

  /** Returns the maximum time that the next commit waits for more items, in milliseconds. */
  #waitForMore(): number {
    const last = this.#lastShared;
    if (last === undefined || this.#timing.now() - last.ended > SOON_MS) return 0;
    // A timer cannot wait for a part of a millisecond.
    return Math.floor(Math.min(WAIT_PER_COMMIT * last.took, MAX_WAIT_MS));
  }

  #commitNext(): void {
    // `flush` may have committed all items already.
    if (this.#waiting.isEmpty) return;
    const group = this.#waiting.take();
    const began = this.#timing.now();
    try {
      group.settle(this.#commit(group.items));
    } catch (error) {
      group.fail(error);
    }
    const ended = this.#timing.now();
    this.#lastShared = group.items.length > 1 ? { ended, took: ended - began } : undefined;
  }
}

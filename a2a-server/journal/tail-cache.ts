/**
 * A cache of the newest entries of watched tasks. A reader that keeps up gets them without a database query.
 *
 * - J2 it is only a cache: other entries are read from the journal, and deleting it changes no answer.
 * - S3 it is bounded: a reader that falls far behind reads from the journal.
 * - A tail is a sequence without gaps, and it ends with the task's last entry.
 */
import type { JournalEntry } from '../task/events.ts';

/** The size of several commits. */
const MOST_ENTRIES = 8_192;
/** The limit of the entries' JSON, in UTF-16 code units. */
const LONGEST = 4 * 1024 * 1024;

interface Tail {
  entries: JournalEntry[];
  length: number;
}

export class TailCache {
  readonly #tails = new Map<string, Tail>();

  /** The number of tasks with a tail. */
  get size(): number {
    return this.#tails.size;
  }

  /**
   * Adds the entries of a commit to the task's cached entries. These entries replace the cached ones if there is a gap
   * between the two, or if both together are too large.
   * @param length the length of the entries' JSON
   */
  add(taskId: string, entries: readonly JournalEntry[], length: number): void {
    const tail = this.#tails.get(taskId);
    if (length > LONGEST) {
      this.#tails.delete(taskId);
    } else if (
      tail !== undefined &&
      tail.entries.at(-1)?.seq === (entries[0]?.seq ?? 0) - 1 &&
      tail.entries.length + entries.length <= MOST_ENTRIES &&
      tail.length + length <= LONGEST
    ) {
      tail.entries.push(...entries);
      tail.length += length;
    } else {
      this.#tails.set(taskId, { entries: [...entries], length });
    }
  }

  /** The entries after `after`, at most `limit`; undefined if the cache does not have all of them. */
  read(taskId: string, after: number, limit: number): JournalEntry[] | undefined {
    const entries = this.#tails.get(taskId)?.entries;
    const first = entries?.[0];
    if (entries === undefined || first === undefined || after < first.seq - 1) return undefined;
    const from = after - first.seq + 1;
    return entries.slice(from, from + limit);
  }

  drop(taskId: string): void {
    this.#tails.delete(taskId);
  }

  clear(): void {
    this.#tails.clear();
  }
}

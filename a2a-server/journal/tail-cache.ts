/**
 * Caches the newest entries of watched tasks. A fast reader gets them without a database query.
 *
 * - J2: entries that are not cached come from the journal. So a reader gets the same entries as without the cache.
 * - S3: the cache has a size limit. A slow reader reads from the journal.
 * - The cached entries of a task have no gaps and end with the task's last entry.
 */
import type { JournalEntry } from '../task/events.ts';
import { isPageFull, type JournalPage } from './journal-page.ts';

/** The maximum number of cached entries per task. Several commits fit into it. */
const MAX_ENTRIES = 8_192;
/** The maximum length of a task's cached entries as JSON, in UTF-16 code units. */
const MAX_JSON_UNITS = 4 * 1024 * 1024;

interface CachedTail {
  entries: JournalEntry[];
  /** The length of each entry's JSON. */
  lengths: number[];
  length: number;
}

export class JournalTailCache {
  readonly #tails = new Map<string, CachedTail>();

  get size(): number {
    return this.#tails.size;
  }

  /**
   * Adds the entries of a commit. They replace the cached entries if there is a gap between the old and the new
   * entries, or if both are too long together.
   * @param lengths the length of each entry's JSON
   */
  add(taskId: string, entries: readonly JournalEntry[], lengths: readonly number[]): void {
    const length = lengths.reduce((sum, each) => sum + each, 0);
    const tail = this.#tails.get(taskId);
    if (length > MAX_JSON_UNITS) {
      this.#tails.delete(taskId);
    } else if (
      tail !== undefined &&
      tail.entries.at(-1)?.seq === (entries[0]?.seq ?? 0) - 1 &&
      tail.entries.length + entries.length <= MAX_ENTRIES &&
      tail.length + length <= MAX_JSON_UNITS
    ) {
      tail.entries.push(...entries);
      tail.lengths.push(...lengths);
      tail.length += length;
    } else {
      this.#tails.set(taskId, { entries: [...entries], lengths: [...lengths], length });
    }
  }

  /** Returns at most `limit` entries after `after`. Returns undefined if some of them are not cached. */
  read(taskId: string, after: number, limit: number): JournalEntry[] | undefined {
    const tail = this.#after(taskId, after);
    return tail?.entries.slice(tail.from, tail.from + limit);
  }

  /** Returns the page after `after`. Returns undefined if some of its entries are not cached. */
  readPage(taskId: string, after: number): JournalPage | undefined {
    const tail = this.#after(taskId, after);
    if (tail === undefined) return undefined;
    const { entries, lengths, from } = tail;
    let to = from;
    for (let length = 0; to < entries.length && !isPageFull(to - from, length); to += 1)
      length += lengths[to] ?? 0;
    return { entries: entries.slice(from, to), isLast: to === entries.length };
  }

  /** Returns the `seq` of the newest cached entry. Returns undefined if no entry of the task is cached. */
  lastSeq(taskId: string): number | undefined {
    return this.#tails.get(taskId)?.entries.at(-1)?.seq;
  }

  drop(taskId: string): void {
    this.#tails.delete(taskId);
  }

  clear(): void {
    this.#tails.clear();
  }

  /** Returns the cached entries of a task, and the index of the first entry after `after`. */
  #after(taskId: string, after: number): (CachedTail & { from: number }) | undefined {
    const tail = this.#tails.get(taskId);
    const from = after - (tail?.entries[0]?.seq ?? Infinity) + 1;
    return tail && from >= 0 ? { ...tail, from } : undefined;
  }
}

/**
 * The last entries of tasks that are read along, as they were committed: a reader who keeps up need not ask the database
 * for what the writer has just handed over.
 *
 * - J2 a cache: what is not here is read from the journal, and dropping all of it changes no answer.
 * - S3 it is bounded: a reader who falls behind further than that reads from the journal, too.
 * - A tail is a gap-free run of entries, and ends with its task's last one.
 */
import type { JournalEntry } from '../task/events.ts';

/** Some commits' worth. */
const MOST_ENTRIES = 8_192;
/** Of the entries' JSON, in UTF-16 code units. */
const LONGEST = 4 * 1024 * 1024;

interface Tail {
  entries: JournalEntry[];
  length: number;
}

export class Tails {
  readonly #tails = new Map<string, Tail>();

  /** How many tasks have one. */
  get size(): number {
    return this.#tails.size;
  }

  /**
   * Adds what was committed last to the task's tail. What does not go on from its end, or is too much, begins it anew.
   * @param length of the entries' JSON
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

  /** The entries after `after`, at most `limit`; undefined when some of them are not here. */
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

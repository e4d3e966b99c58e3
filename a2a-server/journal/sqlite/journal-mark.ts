/**
 * A small file beside the journal that says how much the journal holds at least.
 *
 * SQLite stops reading a write-ahead log at the first frame with a wrong checksum. Every later commit then disappears without
 * an error. The mark is in another file, so a start can compare the two.
 *
 * - The mark names durable commits only, so it is never ahead of the journal. It may be behind by `INTERVAL_MS`.
 * - No append waits for it: it is written in the background, at most once per interval.
 * - A mark that is missing or unreadable claims nothing. Journals of earlier versions have none.
 */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { z } from 'zod';
import { systemErrorCode } from '../../../shared/runtime/errors.ts';
import type { Sqlite } from '../../../shared/sqlite/driver.ts';
import { replaceFile } from '../../../shared/state/atomic-file.ts';
import { integerColumn } from './columns.ts';
import { COUNT_TASKS } from './delete-sessions.ts';

const markSchema = z.object({
  version: z.literal(1),
  /** The number of tasks. */
  tasks: z.number().int().nonnegative(),
  /** The size of the database file. It never gets smaller by itself. */
  bytes: z.number().int().nonnegative(),
  /** The tasks that changed last, each with its last `seq`, oldest change first. */
  recent: z.array(z.tuple([z.string(), z.number().int().positive()])),
});
export type Mark = z.infer<typeof markSchema>;

/** Enough to name what a damaged write-ahead log takes. One entry would be enough to notice it. */
const RECENT = 100;
/** The shortest time between two writes, in milliseconds. */
const INTERVAL_MS = 1_000;

const markPath = (journalPath: string): string => `${journalPath}.mark`;

/** @returns undefined if there is no mark, or none that can be read */
export function readMark(journalPath: string): Mark | undefined {
  try {
    const parsed = markSchema.safeParse(JSON.parse(readFileSync(markPath(journalPath), 'utf8')));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

export function removeMark(journalPath: string): void {
  rmSync(markPath(journalPath), { force: true });
}

/** The size of a file in bytes; 0 if there is none. */
export function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

export class MarkWriter {
  readonly #path: string;
  readonly #countTasks: () => number;
  readonly #recent: Map<string, number>;
  #tasks: number;
  #state: 'open' | 'suspended' | 'closed' = 'open';
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #changed = false;

  /** @param before the mark that the journal was checked against */
  constructor(journalPath: string, database: Sqlite, before: Mark | undefined) {
    this.#path = journalPath;
    const count = database.query(COUNT_TASKS);
    this.#countTasks = () => integerColumn(count()[0]?.[0]);
    this.#tasks = this.#countTasks();
    this.#recent = new Map(before?.recent ?? []);
    if (before !== undefined || this.#tasks === 0) return;
    this.#changed = true;
    this.#schedule(0);
  }

  /** Notes a durable append. @param seq the last `seq` of the task @param created true if the append created the task */
  note(taskId: string, seq: number, created: boolean): void {
    if (created) this.#tasks += 1;
    this.#recent.delete(taskId);
    this.#recent.set(taskId, seq);
    if (this.#recent.size > RECENT) {
      const [oldest] = this.#recent.keys();
      if (oldest !== undefined) this.#recent.delete(oldest);
    }
    this.#changed = true;
    this.#schedule(0);
  }

  /**
   * Removes the mark while `remove` deletes tasks. A crash in between leaves no mark, and no mark claims nothing.
   * @returns the result of `remove`
   */
  async whileRemoving<Result>(remove: () => Result): Promise<Result> {
    this.#state = 'suspended';
    try {
      await this.#writing;
      removeMark(this.#path);
      return remove();
    } finally {
      this.#state = 'open';
      this.#tasks = this.#countTasks();
      this.#recent.clear();
      this.#changed = true;
      this.#schedule(0);
    }
  }

  /** Writes the mark of the closed journal, whose file has grown by the last checkpoint. Nothing is written after it. */
  async close(): Promise<void> {
    this.#state = 'closed';
    clearTimeout(this.#timer);
    await this.#writing;
    if (this.#tasks > 0) await this.#write();
  }

  #schedule(ms: number): void {
    if (this.#timer !== undefined || this.#state !== 'open') return;
    // Appends that follow each other closely share the first write.
    this.#timer = setTimeout(() => {
      this.#writing = this.#write().finally(() => {
        this.#timer = undefined;
        if (this.#changed) this.#schedule(INTERVAL_MS);
      });
    }, ms).unref();
  }

  /** A write that fails, such as on a full disk, is tried again after the next append. */
  async #write(): Promise<void> {
    this.#changed = false;
    try {
      const bytes = sizeOf(this.#path);
      const mark: Mark = { version: 1, tasks: this.#tasks, bytes, recent: [...this.#recent] };
      await replaceFile(markPath(this.#path), `${JSON.stringify(mark)}\n`);
    } catch {
      // The earlier mark stays. It is still true.
    }
  }
}

/**
 * Reads and writes the last-commits file, a small file next to the journal. It names entries that the journal must
 * contain.
 *
 * SQLite stops reading a write-ahead log at the first frame with a wrong checksum. Later commits then disappear without
 * an error. At its start, the server compares the journal with the last-commits file to detect this.
 *
 * - The last-commits file names only durable commits. It may be older than the journal by up to
 *   `MIN_WRITE_INTERVAL_MS`.
 * - The server writes it in the background, at most once per interval. No append waits for this write.
 * - If the last-commits file is missing or unreadable, the server compares nothing. Journals of earlier versions have
 *   no last-commits file.
 */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { z } from 'zod';
import { errorCode } from '../../../shared/runtime/errors.ts';
import { setBounded } from '../../../shared/runtime/set-bounded.ts';
import type { Sqlite } from '../../../shared/sqlite/driver.ts';
import { replaceFile } from '../../../shared/state/atomic-file.ts';
import { integerColumn } from '../validate-column-values.ts';
import { COUNT_TASKS } from './delete-sessions.ts';

const lastCommitsSchema = z.object({
  version: z.literal(1),
  tasks: z.number().int().nonnegative(),
  /** The size of the database file in bytes. The server never makes the file smaller. */
  bytes: z.number().int().nonnegative(),
  /** The most recently changed tasks with their last `seq`. The oldest change is first. */
  recent: z.array(z.tuple([z.string(), z.number().int().positive()])),
});
export type LastCommits = z.infer<typeof lastCommitsSchema>;

/**
 * The maximum number of tasks in the file. One task is enough to detect a damaged write-ahead log. With more tasks, an
 * error can name more of the lost tasks.
 */
const MAX_RECENT_TASKS = 100;
const MIN_WRITE_INTERVAL_MS = 1_000;

const lastCommitsPath = (journalPath: string): string => `${journalPath}.mark`;

/** Reads the last-commits file. Returns undefined if it is missing or unreadable. */
export function readLastCommits(journalPath: string): LastCommits | undefined {
  try {
    const parsed = lastCommitsSchema.safeParse(
      JSON.parse(readFileSync(lastCommitsPath(journalPath), 'utf8')),
    );
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

export function removeLastCommits(journalPath: string): void {
  rmSync(lastCommitsPath(journalPath), { force: true });
}

/** Returns the size of a file in bytes, or 0 if the file does not exist. */
export function fileSize(path: string): number {
  try {
    return statSync(path).size;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

export class LastCommitsWriter {
  readonly #path: string;
  readonly #requireOwnFiles: () => void;
  readonly #countTasks: () => number;
  readonly #recent: Map<string, number>;
  #tasks: number;
  #suspended = false;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #changed = false;

  /**
   * @param parts `before` is the content of the last-commits file when the journal was opened. `requireOwnFiles` throws
   * if the journal's file was deleted or replaced, or if another process has locked the journal. The last-commits file
   * then belongs to that process.
   */
  constructor({
    path,
    database,
    before,
    requireOwnFiles,
  }: {
    path: string;
    database: Sqlite;
    before: LastCommits | undefined;
    requireOwnFiles: () => void;
  }) {
    this.#path = path;
    this.#requireOwnFiles = requireOwnFiles;
    const count = database.query(COUNT_TASKS);
    this.#countTasks = () => integerColumn(count()[0]?.[0]);
    this.#tasks = this.#countTasks();
    this.#recent = new Map(before?.recent ?? []);
    if (before !== undefined || this.#tasks === 0) return;
    this.#changed = true;
    this.#schedule(0);
  }

  /** Records a durable append. @param seq the task's last `seq` @param created true if the append created the task */
  note(taskId: string, seq: number, created: boolean): void {
    if (created) this.#tasks += 1;
    setBounded(this.#recent, taskId, seq, MAX_RECENT_TASKS);
    this.#changed = true;
    this.#schedule(0);
  }

  /**
   * Removes the last-commits file while `remove` deletes tasks. After a crash during `remove`, the next start finds no
   * such file, and so reports no loss.
   */
  async whileRemoving<Result>(remove: () => Result): Promise<Result> {
    this.#suspended = true;
    await this.#writing;
    // The journal may have been closed during this wait. `remove` then only throws the error for a closed journal, and
    // deletes no task. So the last-commits file stays.
    if (this.#closed) return remove();
    try {
      this.#requireOwnFiles();
      removeLastCommits(this.#path);
      return remove();
    } finally {
      this.#suspended = false;
      this.#tasks = this.#countTasks();
      this.#recent.clear();
      this.#changed = true;
      this.#schedule(0);
    }
  }

  /**
   * Writes the last-commits file for the last time. Close the journal first, because its last checkpoint makes the
   * journal file larger.
   */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#writing;
    if (this.#tasks > 0) await this.#write();
  }

  #schedule(ms: number): void {
    if (this.#timer !== undefined || this.#suspended || this.#closed) return;
    // Appends within this interval share one write.
    this.#timer = setTimeout(() => {
      this.#writing = this.#write().finally(() => {
        this.#timer = undefined;
        if (this.#changed) this.#schedule(MIN_WRITE_INTERVAL_MS);
      });
    }, ms).unref();
  }

  /** Writes the last-commits file. If the write fails, e.g. on a full disk, the next append tries again. */
  async #write(): Promise<void> {
    this.#changed = false;
    try {
      this.#requireOwnFiles();
      const bytes = fileSize(this.#path);
      const commits: LastCommits = { version: 1, tasks: this.#tasks, bytes, recent: [...this.#recent] };
      await replaceFile(lastCommitsPath(this.#path), `${JSON.stringify(commits)}\n`);
    } catch {
      // After a failed write, the earlier last-commits file stays, which is still correct.
    }
  }
}

/**
 * Gives committed entries to the readers of this process: wakes the watchers of a task, and caches its newest entries
 * while it is watched. J1: clients see durable entries only. So the journal must call `publish` only after the commit.
 */
import type { TraceContext } from '../../shared/net/trace-context.ts';
import type { JournalEntry } from '../task/events.ts';
import { AppendWatchers } from './append-watchers.ts';
import type { JournalPage } from './journal-page.ts';
import type { AppendOutcome } from './judge-append.ts';
import type { PreparedAppend } from './prepared-append.ts';
import { JournalTailCache } from './tail-cache.ts';

/** Called after each durable append, in order. Must not throw. */
export type OnAppended = (
  taskId: string,
  entries: readonly JournalEntry[],
  trace: TraceContext | undefined,
) => void;

/**
 * Tasks to which other servers have appended. `unknown` means that any task may have changed, because notifications may
 * have been lost.
 */
export type ChangedTasks = readonly string[] | 'unknown';

/** Called after other servers have appended to tasks. Must not throw. */
export type OnChangedElsewhere = (tasks: ChangedTasks) => void;

/** An entry in the database. `at` is undefined if only its `seq` was read. */
export interface StoredEntry {
  seq: number;
  at: number | undefined;
}

export class CommittedEntries {
  readonly #watchers = new AppendWatchers();
  readonly #tails = new JournalTailCache();
  /** The last `seq` for which the watchers of a task were woken. Only for watched tasks. */
  readonly #heads = new Map<string, number>();
  /**
   * The newest entry of a task that the database is known to have stored. Only for watched tasks. A `seq` from a
   * notification is not enough, because every user of the database can send notifications.
   */
  readonly #stored = new Map<string, StoredEntry>();
  readonly #onAppended: OnAppended;

  constructor(onAppended: OnAppended = () => undefined) {
    this.#onAppended = onAppended;
  }

  /** Publishes those appends of a commit that were written, and returns them. */
  publish(appends: readonly PreparedAppend[], outcomes: readonly AppendOutcome[]): PreparedAppend[] {
    const written = appends.filter((append, index) => this.#add(append, outcomes[index]));
    appends.forEach(({ taskId }, index) => {
      const outcome = outcomes[index];
      // If an append was not accepted, another server may have appended. So the cached entries might not be the newest.
      if (outcome?.type === 'done' && outcome.result.type !== 'appended') this.#tails.drop(taskId);
    });
    for (const taskId of new Set(written.map((append) => append.taskId))) this.#watchers.wake(taskId);
    return written;
  }

  /** Returns at most `limit` entries after `after`. Returns undefined if some of them are not cached. */
  read(taskId: string, after: number, limit: number): JournalEntry[] | undefined {
    return this.#tails.read(taskId, after, limit);
  }

  /** Returns the page after `after`. Returns undefined if some of its entries are not cached. */
  readPage(taskId: string, after: number): JournalPage | undefined {
    return this.#tails.readPage(taskId, after);
  }

  /** Implements `Journal.watch`. */
  watch(taskId: string, wake: () => void): () => void {
    const stop = this.#watchers.add(taskId, wake);
    return () => {
      stop();
      if (this.#watchers.has(taskId)) return;
      this.#tails.drop(taskId);
      this.#heads.delete(taskId);
      this.#stored.delete(taskId);
    };
  }

  /** Removes the cached entries of a task to which another server may have appended. */
  forgetTask(taskId: string): void {
    this.#tails.drop(taskId);
  }

  /** The watched tasks, each with the newest entry that the database is known to have stored. */
  watched(): Map<string, StoredEntry | undefined> {
    return new Map(this.#watchers.taskIds.map((taskId) => [taskId, this.#stored.get(taskId)]));
  }

  /** Records an entry that the database has stored, if the task is watched and no newer entry is recorded. */
  noteStored(taskId: string, entry: StoredEntry): void {
    if (this.#watchers.has(taskId) && entry.seq > this.#storedSeq(taskId))
      this.#stored.set(taskId, { seq: entry.seq, at: entry.at });
  }

  /**
   * Wakes the watchers if another server reports entries up to `seq` that this server does not know yet. Wakes them
   * even if an earlier notification named the same `seq`, because the entry may not have existed then.
   */
  noteNotifiedHead(taskId: string, seq: number): void {
    if (seq <= this.#storedSeq(taskId)) return;
    this.#setHead(taskId, Math.max(seq, this.#heads.get(taskId) ?? 0));
  }

  /**
   * Wakes the watchers if the entry with this `seq` is new, or if a notification has named a larger `seq`.
   * @param seq the task's last `seq`, which a query has read; 0 if there is no such task
   */
  noteStoredHead(taskId: string, seq: number): void {
    // If this server has stored or read a newer entry since, the query's result is outdated. But `seq` 0 means that the
    // task was deleted.
    if (seq > 0 && seq < this.#storedSeq(taskId)) return;
    const isNew = seq > this.#storedSeq(taskId);
    if (seq === 0) this.#stored.delete(taskId);
    else this.noteStored(taskId, { seq, at: undefined });
    if (isNew || seq !== this.#heads.get(taskId)) this.#setHead(taskId, seq);
  }

  /** Removes the cached entries of a task if the database has newer ones. */
  forgetBefore(taskId: string, seq: number): void {
    const last = this.#tails.lastSeq(taskId);
    if (last !== undefined && last < seq) this.#tails.drop(taskId);
  }

  /** Removes the cached entries. Must be called when tasks are deleted. */
  forget(): void {
    this.#tails.clear();
  }

  /** Removes the watchers and the cached entries. */
  close(): void {
    this.#watchers.clear();
    this.#tails.clear();
    this.#heads.clear();
    this.#stored.clear();
  }

  #storedSeq(taskId: string): number {
    return this.#stored.get(taskId)?.seq ?? 0;
  }

  #setHead(taskId: string, seq: number): void {
    if (!this.#watchers.has(taskId)) return;
    this.#heads.set(taskId, seq);
    if (this.#tails.lastSeq(taskId) !== seq) this.#tails.drop(taskId);
    this.#watchers.wake(taskId);
  }

  #add({ taskId, bodies, expectedSeq, trace }: PreparedAppend, outcome: AppendOutcome | undefined): boolean {
    if (outcome?.type !== 'done' || outcome.result.type !== 'appended') return false;
    const { entries } = outcome.result;
    this.#onAppended(taskId, entries, trace);
    if (this.#watchers.has(taskId)) {
      const newest = entries.at(-1);
      if (newest !== undefined) this.noteStored(taskId, newest);
      const last = expectedSeq + entries.length;
      // If another server has already appended more, these entries are not the newest.
      if (last < (this.#heads.get(taskId) ?? 0)) {
        this.#tails.drop(taskId);
        return true;
      }
      this.#heads.set(taskId, last);
      this.#tails.add(
        taskId,
        entries,
        bodies.map((body) => body.length),
      );
    }
    return true;
  }
}

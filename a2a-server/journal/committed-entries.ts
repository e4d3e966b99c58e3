/**
 * Gives committed entries to the readers of this process: wakes the watchers of a task, and caches its newest entries
 * while it is watched. J1: clients see durable entries only. So an engine must call `publish` after the commit.
 */
import type { TraceContext } from '../../shared/net/trace-context.ts';
import type { JournalEntry } from '../task/events.ts';
import { AppendWatchers } from './append-watchers.ts';
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

export class CommittedEntries {
  readonly #watchers = new AppendWatchers();
  readonly #tails = new JournalTailCache();
  /** The last `seq` for which the watchers of a task were woken. Only for watched tasks. */
  readonly #heads = new Map<string, number>();
  readonly #onAppended: OnAppended;

  constructor(onAppended: OnAppended = () => undefined) {
    this.#onAppended = onAppended;
  }

  /** Publishes the appends of one commit that were written. Returns these appends. */
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

  /** Implements `Journal.watch`. */
  watch(taskId: string, wake: () => void): () => void {
    const stop = this.#watchers.add(taskId, wake);
    return () => {
      stop();
      if (this.#watchers.has(taskId)) return;
      this.#tails.drop(taskId);
      this.#heads.delete(taskId);
    };
  }

  /** Removes the cached entries of a task to which another server may have appended. */
  forgetTask(taskId: string): void {
    this.#tails.drop(taskId);
  }

  /** The watched tasks, each with the last `seq` for which its watchers were woken, or 0. */
  watched(): Map<string, number> {
    return new Map(this.#watchers.taskIds.map((taskId) => [taskId, this.#heads.get(taskId) ?? 0]));
  }

  /**
   * Wakes the watchers if they were not yet woken for this `seq`. Another server may have appended it.
   * @param seq the task's last `seq` in the database; 0 if there is no such task
   */
  noteHead(taskId: string, seq: number): void {
    if (!this.#watchers.has(taskId)) return;
    const known = this.#heads.get(taskId);
    // A smaller `seq` was read before a later append, so it is outdated. But `seq` 0 means that the task was deleted.
    if (known !== undefined && (seq === known || (seq < known && seq > 0))) return;
    this.#heads.set(taskId, seq);
    if (this.#tails.lastSeq(taskId) !== seq) this.#tails.drop(taskId);
    this.#watchers.wake(taskId);
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
  }

  #add({ taskId, bodies, expectedSeq, trace }: PreparedAppend, outcome: AppendOutcome | undefined): boolean {
    if (outcome?.type !== 'done' || outcome.result.type !== 'appended') return false;
    const { entries } = outcome.result;
    this.#onAppended(taskId, entries, trace);
    if (this.#watchers.has(taskId)) {
      const last = expectedSeq + entries.length;
      // Another server has already appended more. So these entries are not the newest.
      if (last < (this.#heads.get(taskId) ?? 0)) {
        this.#tails.drop(taskId);
        return true;
      }
      this.#heads.set(taskId, last);
      const length = bodies.reduce((sum, body) => sum + body.length, 0);
      this.#tails.add(taskId, entries, length);
    }
    return true;
  }
}

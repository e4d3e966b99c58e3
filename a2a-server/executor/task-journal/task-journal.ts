/**
 * Reads snapshots from the journal and appends changes. A pure rule decides each change from the snapshot. If another
 * writer was faster, the rule runs again on the new snapshot.
 *
 * - J1: an append names the `seq` of the snapshot that its rule used. The journal refuses an older `seq`.
 * - J2: a snapshot in memory is a cache. `load` folds the new entries into it. `change` may use the snapshot of an
 *   executing task as it is, because the journal refuses an append that uses an outdated snapshot.
 * - Snapshots of executing tasks stay in memory. Others may be freed by the garbage collector.
 * - Writers of one task wait in a queue, so that no writer is refused again and again. Correctness does not depend on
 *   the queue: the journal refuses a second append with the same `seq`.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TraceContext } from '../../../shared/net/trace-context.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { setBounded } from '../../../shared/runtime/set-bounded.ts';
import { isDamagedTaskError } from '../../journal/damaged-task.ts';
import { type TaskClaim, OwnershipLostError } from '../../journal/ownership.ts';
import type { FairStepLimiter } from '../../limits/fair-step-limiter.ts';
import type {
  AppendRequest,
  AppendResult,
  CommandKey,
  FileBytes,
  Journal,
  RecordedCommand,
} from '../../journal/journal.ts';
import type { JournalEntry, TaskEvent } from '../../task/events.ts';
import { isRefusal, type CommandRefusal, type TaskRule } from '../../task/command-outcome.ts';
import { withDeadlines, deadlineAfterEvents, type ExpirySettings } from '../../task/expiry.ts';
import { foldAll, foldEntries, taskStateAfter } from '../../task/fold.ts';
import { isTerminal, type Snapshot } from '../../task/snapshot.ts';
import { snapshotFromRow } from './snapshot-from-row.ts';

const ENTRIES_PER_PAGE = 1000;
/**
 * The maximum number of tasks whose snapshot has a weak reference here. While a snapshot is still in memory, the whole
 * journal of its task need not be folded again.
 */
const MAX_CACHED_TASKS = 1000;

/** Data that the append of a change stores with its events. */
interface AppendedData {
  command?: CommandKey;
  contents?: readonly FileBytes[];
}

export type TaskAppendResult =
  | { type: 'appended'; snapshot: Snapshot; entries: readonly JournalEntry[] }
  | { type: 'kept'; snapshot: Snapshot }
  | { type: 'repeated'; command: RecordedCommand }
  | CommandRefusal;

interface TaskJournalOptions {
  /** The deadlines of pending actions. If absent, pending actions have no deadline. */
  waits?: DeadlineOptions | undefined;
  /** Called for each task whose end this process has appended. */
  onEnded?: ((task: Snapshot) => void) | undefined;
  /** Called once for each task that `loadIfReadable` leaves out because its events are damaged. */
  onDamaged?: ((taskId: string, error: unknown) => void) | undefined;
  /** Shares the appends fairly among the principals. If absent, each append begins at once. */
  stepLimiter?: FairStepLimiter;
}

interface DeadlineOptions {
  clock: Clock;
  expiry: ExpirySettings;
  /** Called with each deadline once it is durable, in milliseconds since 1970. */
  onDeadline: (deadline: number) => void;
}

export class TaskJournal {
  readonly #journal: Journal;
  readonly #options: TaskJournalOptions;
  #claim: TaskClaim | undefined;
  #retained = new Map<string, Snapshot | null>();
  #recent = new Map<string, WeakRef<Snapshot>>();
  #queues = new Map<string, Promise<unknown>>();
  /**
   * The damaged tasks that were already reported. A page may load a list of tasks often, but each damaged task is
   * reported only once.
   */
  #reported = new Set<string>();

  constructor(journal: Journal, options: TaskJournalOptions = {}) {
    this.#journal = journal;
    this.#options = options;
  }

  /** Returns a `TaskJournal` for the execution that has this claim. It shares its snapshots with this one. */
  ownedBy(claim: TaskClaim): TaskJournal {
    const taskJournal = new TaskJournal(this.#journal, this.#options);
    taskJournal.#retained = this.#retained;
    taskJournal.#recent = this.#recent;
    taskJournal.#queues = this.#queues;
    taskJournal.#reported = this.#reported;
    taskJournal.#claim = claim;
    return taskJournal;
  }

  /**
   * Keeps the task's snapshot in memory until the returned function is called. A task must have at most one such caller
   * at a time.
   */
  retain(taskId: string): () => void {
    this.#retained.set(taskId, null);
    return () => this.#retained.delete(taskId);
  }

  /**
   * Returns the task after its last entry, or after entry `upTo`. Folds only entries that are newer than the cached
   * snapshot.
   */
  async load(taskId: string, upTo = Number.MAX_SAFE_INTEGER): Promise<Snapshot | undefined> {
    const known = this.#retained.get(taskId) ?? this.#recent.get(taskId)?.deref();
    const start = known && known.seq <= upTo ? known : undefined;
    const snapshot = await this.#readOn(taskId, start, upTo);
    if (snapshot && upTo === Number.MAX_SAFE_INTEGER) this.#cacheSnapshot(snapshot);
    return snapshot;
  }

  /**
   * Returns the task for a list of tasks. Returns undefined if the task was deleted after the list was read from the
   * index. Also returns undefined if the events of the task are damaged, because such a task must not hide the others.
   * @param seq the task's last `seq` in that list. A cached snapshot with this `seq` needs no read.
   */
  async loadIfReadable(taskId: string, seq = Number.MAX_SAFE_INTEGER): Promise<Snapshot | undefined> {
    const known = this.#retained.get(taskId) ?? this.#recent.get(taskId)?.deref();
    if (known && known.seq >= seq) return known;
    try {
      return await this.load(taskId);
    } catch (error) {
      if (!isDamagedTaskError(error)) throw error;
      if (!this.#reported.has(taskId)) this.#options.onDamaged?.(taskId, error);
      this.#reported.add(taskId);
      return undefined;
    }
  }

  /**
   * Returns the task, or its first event alone if a later event is damaged. That event has the settings, which never
   * change.
   * @throws ProductError STORAGE also if the first event is damaged
   */
  async loadOrBeginning(taskId: string): Promise<Snapshot | undefined> {
    try {
      return await this.load(taskId);
    } catch (error) {
      if (!isDamagedTaskError(error)) throw error;
      return this.load(taskId, 1);
    }
  }

  /** True if the events of the task are damaged. False also if the journal cannot be read at all. */
  async isDamaged(taskId: string): Promise<boolean> {
    try {
      await this.load(taskId);
      return false;
    } catch (error) {
      return isDamagedTaskError(error);
    }
  }

  /**
   * Applies a rule that ends the task, also if the events of the task are damaged. Without this end, a damaged task
   * would keep its session and its deadline forever. For a damaged task, the rule sees only what the index knows.
   * @throws ProductError STORAGE if the journal cannot be written; OwnershipLostError
   */
  async end(taskId: string, rule: TaskRule): Promise<TaskAppendResult | undefined> {
    try {
      return await this.change(taskId, rule);
    } catch (error) {
      if (!isDamagedTaskError(error)) throw error;
      return this.#endDamaged(taskId, rule);
    }
  }

  /**
   * Applies the rule to a snapshot that is built from the task's row. J2: this snapshot is not the fold of the journal,
   * so it is never cached.
   */
  async #endDamaged(taskId: string, rule: TaskRule): Promise<TaskAppendResult | undefined> {
    for (;;) {
      const row = await this.#journal.row(taskId);
      const snapshot = row && snapshotFromRow(row);
      if (snapshot === undefined) return undefined;
      const outcome = rule(snapshot);
      if (isRefusal(outcome)) return outcome;
      if (outcome.length === 0) return { type: 'kept', snapshot };
      const result = await this.#append(snapshot, outcome);
      if (result.type !== 'appended') continue;
      const after = foldEntries(snapshot, result.entries);
      this.#options.onEnded?.(after);
      return { type: 'appended', snapshot: after, entries: result.entries };
    }
  }

  /**
   * Applies a rule to the task. The result `appended` means that the events are durable. Returns undefined for an
   * unknown task.
   * @throws ProductError STORAGE if the journal cannot be written; OwnershipLostError if this `TaskJournal` has a claim
   * that was lost
   */
  async change(taskId: string, rule: TaskRule, data?: AppendedData): Promise<TaskAppendResult | undefined> {
    const turn = (this.#queues.get(taskId) ?? Promise.resolve()).then(() => this.#change(taskId, rule, data));
    const settled = turn.catch(() => undefined);
    this.#queues.set(taskId, settled);
    try {
      return await turn;
    } finally {
      if (this.#queues.get(taskId) === settled) this.#queues.delete(taskId);
    }
  }

  /** Appends to a task of the principal as soon as the step limiter allows it. @throws ProductError STORAGE */
  append(principal: string, append: AppendRequest): Promise<AppendResult> {
    const { stepLimiter } = this.#options;
    const write = (): Promise<AppendResult> => this.#journal.append(append);
    return stepLimiter === undefined ? write() : stepLimiter.run(principal, write);
  }

  async #change(
    taskId: string,
    rule: TaskRule,
    data: AppendedData | undefined,
  ): Promise<TaskAppendResult | undefined> {
    let snapshot = this.#retained.get(taskId) ?? (await this.load(taskId));
    while (snapshot !== undefined) {
      const outcome = rule(snapshot);
      if (isRefusal(outcome)) return outcome;
      if (outcome.length === 0) return { type: 'kept', snapshot };
      const events = this.#withDeadlinesOfQuestions(snapshot, outcome);
      const result = await this.#append(snapshot, events, data);
      if (result.type === 'repeated') return result;
      if (result.type === 'appended') {
        const after = foldEntries(snapshot, result.entries);
        this.#cacheSnapshot(after);
        const deadline = deadlineAfterEvents(events);
        if (typeof deadline === 'number') this.#options.waits?.onDeadline(deadline);
        if (isTerminal(after)) this.#options.onEnded?.(after);
        return { type: 'appended', snapshot: after, entries: result.entries };
      }
      snapshot = await this.#readOn(taskId, snapshot);
    }
    return undefined;
  }

  /** @throws OwnershipLostError if this log has a claim that was lost */
  async #append(
    snapshot: Snapshot,
    events: readonly TaskEvent[],
    data?: AppendedData,
  ): Promise<AppendResult> {
    const { taskId, principal, seq, status } = snapshot;
    this.requireClaim(taskId);
    const trace = newestTrace(events) ?? snapshot.trace;
    const result = await this.append(principal, {
      taskId,
      expectedSeq: seq,
      events,
      state: taskStateAfter(events) ?? status.state,
      ...data,
      ...(this.#claim?.epoch !== undefined && { epoch: this.#claim.epoch }),
      ...(trace && { trace }),
    });
    if (result.type === 'fenced') throw this.#loseClaim(taskId);
    return result;
  }

  /** @throws OwnershipLostError if this log has a claim that was lost */
  requireClaim(taskId: string): void {
    if (this.#claim?.held === false) throw this.#loseClaim(taskId);
  }

  /** Ends the execution that has the claim. Returns the error for its append. */
  #loseClaim(taskId: string): OwnershipLostError {
    this.#claim?.lose();
    return new OwnershipLostError(taskId);
  }

  /** Adds deadlines to the events that ask a person. Every append of a change calls this function. */
  #withDeadlinesOfQuestions(snapshot: Snapshot, events: readonly TaskEvent[]): readonly TaskEvent[] {
    const { waits } = this.#options;
    if (waits === undefined) return events;
    const { clock, expiry } = waits;
    return withDeadlines(snapshot, events, { now: clock.now(), expiry });
  }

  async #readOn(
    taskId: string,
    start: Snapshot | undefined,
    upTo = Number.MAX_SAFE_INTEGER,
  ): Promise<Snapshot | undefined> {
    let snapshot = start;
    for (let pages = 1; ; pages += 1) {
      const after = snapshot?.seq ?? 0;
      if (after >= upTo) return snapshot;
      const limit = Math.min(ENTRIES_PER_PAGE, upTo - after);
      const page = await this.#journal.read(taskId, after, limit);
      snapshot = snapshot === undefined ? foldAll(taskId, page) : foldEntries(snapshot, page);
      if (snapshot === undefined) return undefined;
      // If the task was deleted while its pages were read, the pages are incomplete. So the task counts as unknown.
      if (page.length < limit)
        return pages > 1 && (await this.#journal.row(taskId)) === undefined ? undefined : snapshot;
      // X3: one page per event-loop turn. A long journal must not block other requests.
      await nextTurn();
    }
  }

  #cacheSnapshot(snapshot: Snapshot): void {
    const { taskId } = snapshot;
    const known = this.#retained.get(taskId);
    if (known === null || (known && known.seq < snapshot.seq)) this.#retained.set(taskId, snapshot);
    if (this.#recent.get(taskId)?.deref() === snapshot) return;
    setBounded(this.#recent, taskId, new WeakRef(snapshot), MAX_CACHED_TASKS);
  }
}

function newestTrace(events: readonly TaskEvent[]): TraceContext | undefined {
  const received = events.findLast((event) => event.type === 'message.received');
  return received?.type === 'message.received' ? received.trace : undefined;
}

/**
 * Ends tasks after their deadline, deletes old sessions, and maintains the journal. A round does all of this once. A
 * timer starts the next round.
 *
 * - Deadlines use no memory. They are in the journal's index, and the process has one timer for all of them.
 * - If a decision and a deadline arrive together, the journal accepts only the first (D1, A3: one of two racing
 *   commands wins).
 * - After a failed round, the next round tries again.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Journal } from '../journal/journal.ts';
import { cancelExpiredTask } from '../task/expiry.ts';
import type { ClockCheck } from './clock-check.ts';
import type { TaskJournal } from './task-journal/task-journal.ts';

/**
 * The longest delay of the timer. After a clock change or a sleep of the machine, a round is late by at most this time.
 * `setTimeout` supports only delays below 2³¹ ms.
 */
const MAX_TIMER_MS = 3_600_000;

/** The delay after a failed round, or if the clock is implausible. A full disk may have space by then. */
const RETRY_MS = 60_000;

const MAX_SESSIONS_PER_DELETION = 20;

/** The maximum number of entries in one step of the journal's maintenance. One step takes some milliseconds. */
const MAX_ENTRIES_PER_STEP = 512;

/**
 * The number of expired tasks that one batch ends. The appends of a batch share commits. Other work runs between two
 * batches.
 */
const TASKS_PER_BATCH = 100;

interface MaintenanceOptions {
  journal: Journal;
  taskJournal: TaskJournal;
  clock: Clock;
  clockCheck: Pick<ClockCheck, 'plausibleTime'>;
  /** The time from the end of a session's last task to the deletion of the session. If null, no session is deleted. */
  retentionMs: number | null;
  /** Called for each expired task, to stop its work: one of its tools may still wait for a person. */
  onEnded: (taskId: string) => void;
  onFailure: (error: unknown) => void;
}

export class TaskMaintenance {
  readonly #options: MaintenanceOptions;
  #timer: { at: number; cancel: () => void } | undefined;
  #round: Promise<void> | undefined;
  /** The time at which the last round began, in milliseconds since 1970. */
  #begunAt = Number.NEGATIVE_INFINITY;
  /** The earliest deadline that was added during the current round. */
  #earliestDeadline = Number.POSITIVE_INFINITY;
  #state: 'idle' | 'active' | 'stopped' = 'idle';

  constructor(options: MaintenanceOptions) {
    this.#options = options;
  }

  /** Starts the maintenance rounds. The first round ends tasks whose deadline passed while no server ran. */
  start(): void {
    if (this.#state !== 'idle') return;
    this.#state = 'active';
    this.#startRound();
  }

  /**
   * Reads the earliest deadline from the journal, and starts the next round in time for it. Another server may have
   * added this deadline and then died, so this server may not know it yet.
   */
  async lookForDeadlines(): Promise<void> {
    try {
      const [row] = await this.#options.journal.deadlines(1);
      // A deadline in the past may belong to a task that the last round could not end. So the next round starts only
      // `RETRY_MS` after the last one began. Otherwise one round would follow another without a pause.
      const at = row?.deadline;
      if (typeof at !== 'number') return;
      const overdue = at <= this.#options.clock.now();
      this.noteDeadline(overdue ? this.#begunAt + RETRY_MS : at);
    } catch {
      // If the journal cannot be read, the error is ignored, because the server looks again soon.
    }
  }

  /** Starts the next round in time for a new deadline. @param deadline in milliseconds since 1970 */
  noteDeadline(deadline: number): void {
    if (this.#state !== 'active') return;
    if (this.#round !== undefined) this.#earliestDeadline = Math.min(this.#earliestDeadline, deadline);
    else if (this.#timer !== undefined && deadline < this.#timer.at) this.#setTimer(deadline);
  }

  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#timer?.cancel();
    await this.#round;
  }

  async settled(): Promise<void> {
    await this.#round;
  }

  #startRound(): void {
    this.#timer = undefined;
    this.#begunAt = this.#options.clock.now();
    this.#earliestDeadline = Number.POSITIVE_INFINITY;
    this.#round = this.#runAndSchedule();
  }

  async #runAndSchedule(): Promise<void> {
    const next = await this.#runRound();
    this.#round = undefined;
    if (this.#state === 'active') this.#setTimer(Math.min(next, this.#earliestDeadline));
  }

  #setTimer(at: number): void {
    this.#timer?.cancel();
    const now = this.#options.clock.now();
    const ms = Math.max(0, Math.min(at - now, MAX_TIMER_MS));
    this.#timer = { at: now + ms, cancel: this.#options.clock.after(ms, () => this.#startRound()) };
  }

  /** Runs one round. Returns the time of the next round, in milliseconds since 1970. */
  async #runRound(): Promise<number> {
    try {
      // While the clock is implausible, no task expires and no session is deleted. All work of this round uses the
      // checked time.
      const { clock, clockCheck } = this.#options;
      const now = await clockCheck.plausibleTime();
      const next = now === undefined ? clock.now() + RETRY_MS : await this.#endExpiredTasks(now);
      await this.#maintain();
      if (now !== undefined) await this.#deleteOldSessions(now);
      return next;
    } catch (error) {
      this.#report(error);
      return this.#options.clock.now() + RETRY_MS;
    }
  }

  #report(error: unknown): void {
    if (this.#state === 'active') this.#options.onFailure(error);
  }

  async #deleteOldSessions(now: number): Promise<void> {
    const { journal, retentionMs } = this.#options;
    if (retentionMs === null) return;
    const before = now - retentionMs;
    while (
      this.#state === 'active' &&
      (await journal.deleteEndedSessions(before, MAX_SESSIONS_PER_DELETION)) > 0
    ) {
      await nextTurn();
      await this.#maintain();
    }
  }

  async #maintain(): Promise<void> {
    const { journal } = this.#options;
    while (this.#state === 'active' && (await journal.maintain(MAX_ENTRIES_PER_STEP)) > 0) await nextTurn();
  }

  /**
   * Ends the tasks whose deadline has passed. Returns the time of the next round, in milliseconds since 1970. A task
   * that cannot be ended, e.g. because its journal cannot be read, does not prevent the end of the others.
   */
  async #endExpiredTasks(now: number): Promise<number> {
    const { journal, taskJournal, onEnded } = this.#options;
    /**
     * The tasks that this round could not end, e.g. because their deadline in the index is wrong. The round does not
     * try them again. Otherwise it would never end.
     */
    const tried = new Set<string>();
    const failures: unknown[] = [];
    while (this.#state === 'active') {
      // If this many tasks cannot be ended, the cause is probably not in the tasks, but e.g. a full disk. So the round
      // fails.
      if (failures.length >= TASKS_PER_BATCH) throw failures[0];
      const rows = await journal.deadlines(TASKS_PER_BATCH + tried.size);
      const due = rows.filter(({ taskId, deadline }) => (deadline ?? now) <= now && !tried.has(taskId));
      if (due.length === 0) {
        const next = rows.find(({ deadline }) => (deadline ?? now) > now)?.deadline ?? Infinity;
        if (failures.length === 0) return next;
        this.#report(failures[0]);
        return Math.min(next, now + RETRY_MS);
      }
      await Promise.all(
        due.map(async ({ taskId }) => {
          try {
            const changed = await taskJournal.end(taskId, (s) => cancelExpiredTask(s, now));
            if (changed?.type === 'appended') onEnded(taskId);
            else tried.add(taskId);
          } catch (error) {
            tried.add(taskId);
            failures.push(error);
          }
        }),
      );
      await nextTurn();
    }
    return Infinity;
  }
}

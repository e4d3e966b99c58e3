/**
 * Runs time-based work: ends tasks after their deadline (R14), deletes old sessions, and runs the journal's own
 * maintenance.
 *
 * - A parked task costs no memory. The process has one timer, and deadlines come from the journal's index.
 * - The pure core decides on the task's current state. If a decision and a deadline arrive together, the journal
 *   accepts only one of them (D1, A3).
 * - `onFailure` reports a failed round. The next round tries again.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Journal } from '../journal/journal.ts';
import { expire } from '../task/expiry.ts';
import type { ClockCheck } from './clock-check.ts';
import type { TaskLog } from './task-log.ts';

/**
 * Maximum delay of the timer, in milliseconds. After a clock change or a sleep, the server acts at most this much
 * later. `setTimeout` supports delays below 2³¹ ms.
 */
const LONGEST_TIMER_MS = 3_600_000;

/** Delay in milliseconds after a failed round or an implausible clock. A full disk may have space by then. */
const RETRY_MS = 60_000;

/** The maximum number of sessions deleted in one transaction. */
const DELETED_AT_ONCE = 20;

/** Maximum number of entries for one step of the journal's own maintenance. One step takes some milliseconds. */
const MAINTAINED_AT_ONCE = 512;

/** The number of tasks to end concurrently. Their appends share commits. Other work runs between two batches. */
const BATCH = 100;

interface MaintenanceOptions {
  journal: Journal;
  log: TaskLog;
  clock: Clock;
  /** If absent, the service trusts its clock. */
  clockCheck?: ClockCheck;
  /**
   * The time from the end of a session's last task to the deletion of the session, in milliseconds. Null: no deletion.
   */
  retentionMs: number | null;
  /** Called for each task that the maintenance ends. One of its tools may still wait for a person. */
  onEnded: (taskId: string) => void;
  /** Called when a round fails. */
  onFailure: (error: unknown) => void;
}

export class Maintenance {
  readonly #options: MaintenanceOptions;
  #timer: { at: number; cancel: () => void } | undefined;
  #round: Promise<void> | undefined;
  /** The earliest deadline reported during the current round. */
  #earliestDeadline = Number.POSITIVE_INFINITY;
  #state: 'idle' | 'active' | 'stopped' = 'idle';

  constructor(options: MaintenanceOptions) {
    this.#options = options;
  }

  /** Starts the rounds in the background. The first round handles deadlines that passed while no server ran. */
  start(): void {
    if (this.#state !== 'idle') return;
    this.#state = 'active';
    this.#begin();
  }

  /** Reports a new deadline, in milliseconds since the epoch. */
  noteDeadline(deadline: number): void {
    if (this.#state !== 'active') return;
    if (this.#round !== undefined) this.#earliestDeadline = Math.min(this.#earliestDeadline, deadline);
    else if (this.#timer !== undefined && deadline < this.#timer.at) this.#arm(deadline);
  }

  /** Starts no more rounds. Resolves when the current round has ended. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#timer?.cancel();
    await this.#round;
  }

  /** Resolves when no round runs. */
  async settled(): Promise<void> {
    await this.#round;
  }

  #begin(): void {
    this.#timer = undefined;
    this.#earliestDeadline = Number.POSITIVE_INFINITY;
    this.#round = this.#run();
  }

  async #run(): Promise<void> {
    const next = await this.#work();
    this.#round = undefined;
    if (this.#state === 'active') this.#arm(Math.min(next, this.#earliestDeadline));
  }

  #arm(at: number): void {
    this.#timer?.cancel();
    const now = this.#options.clock.now();
    const ms = Math.max(0, Math.min(at - now, LONGEST_TIMER_MS));
    this.#timer = { at: now + ms, cancel: this.#options.clock.after(ms, () => this.#begin()) };
  }

  /** @returns the time of the next round. */
  async #work(): Promise<number> {
    try {
      // R103: while the clock is implausible, nothing expires and nothing is deleted.
      // All work of this round uses the checked time.
      const { clock, clockCheck } = this.#options;
      const now = clockCheck === undefined ? clock.now() : await clockCheck.plausibleTime();
      const next = now === undefined ? clock.now() + RETRY_MS : await this.#expire(now);
      await this.#maintain();
      if (now !== undefined) await this.#deleteOldSessions(now);
      return next;
    } catch (error) {
      if (this.#state === 'active') this.#options.onFailure(error);
      return this.#options.clock.now() + RETRY_MS;
    }
  }

  async #deleteOldSessions(now: number): Promise<void> {
    const { journal, retentionMs } = this.#options;
    if (retentionMs === null) return;
    const before = now - retentionMs;
    while (this.#state === 'active' && (await journal.deleteEndedSessions(before, DELETED_AT_ONCE)) > 0) {
      await nextTurn();
      await this.#maintain();
    }
  }

  async #maintain(): Promise<void> {
    const { journal } = this.#options;
    while (this.#state === 'active' && (await journal.maintain(MAINTAINED_AT_ONCE)) > 0) await nextTurn();
  }

  /** Ends the tasks that are due. @returns the next deadline. */
  async #expire(now: number): Promise<number> {
    const { journal, log, onEnded } = this.#options;
    /**
     * The tasks tried in this round. Each task gets one try, because a task that is due only in the index would cause
     * an endless loop.
     */
    const tried = new Set<string>();
    while (this.#state === 'active') {
      const rows = await journal.deadlines(BATCH + tried.size);
      const due = rows.filter(({ taskId, deadline }) => (deadline ?? now) <= now && !tried.has(taskId));
      if (due.length === 0) return rows.find(({ deadline }) => (deadline ?? now) > now)?.deadline ?? Infinity;
      const changes = await Promise.all(
        due.map(async ({ taskId }) => ({ taskId, changed: await log.change(taskId, (s) => expire(s, now)) })),
      );
      for (const { taskId, changed } of changes) {
        if (changed?.type === 'appended') onEnded(taskId);
        else tried.add(taskId);
      }
      await nextTurn();
    }
    return Infinity;
  }
}

/**
 * What the server does by itself as time passes: it ends tasks that nobody came to in time (R14), deletes sessions that
 * have long been over, and packs long journals whose tasks stand still.
 *
 * - Parked costs nothing: one timer for the whole process, however many tasks wait. What is due is asked of the journal's
 *   index; no task, closure or time of a task is held here.
 * - What is done is decided by the pure core on the task as it is then. A decision that races with it is decided by the
 *   journal: one of them is appended, the other finds the task changed (D1, A3).
 * - A round that fails is told, and tried again with the next.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Journal } from '../journal/journal.ts';
import { expire } from '../task/expiry.ts';
import type { TaskLog } from './task-log.ts';

/**
 * The longest the timer runs, in milliseconds. A clock that was set forward, or a machine that slept, is noticed by then;
 * and `setTimeout` counts no further than 2³¹ ms.
 */
const LOOK_AGAIN_MS = 3_600_000;

/** After a round that failed, in milliseconds: a full disk may have room by then. */
const RETRY_MS = 60_000;

/** Sessions deleted in one transaction. */
const FORGOTTEN_AT_ONCE = 20;

/** Entries packed in one transaction: some milliseconds of work. */
const COMPACTED_AT_ONCE = 512;

/** Tasks ended side by side: they share commits, and others get their turn in between. */
const BATCH = 100;

export interface MaintenanceOptions {
  journal: Journal;
  log: TaskLog;
  clock: Clock;
  /** How long a session is kept after its last task has ended, in milliseconds; null for ever. */
  retentionMs: number | null;
  /** Told of a task that was ended: a tool may be at work that waits for the person who did not come. */
  onEnded: (taskId: string) => void;
  /** Told of a round that broke off. */
  onFailure: (error: unknown) => void;
}

export class Maintenance {
  readonly #options: MaintenanceOptions;
  #timer: { at: number; cancel: () => void } | undefined;
  #round: Promise<void> | undefined;
  /** The earliest deadline told of while a round was under way. */
  #told = Number.POSITIVE_INFINITY;
  #state: 'idle' | 'active' | 'stopped' = 'idle';

  constructor(options: MaintenanceOptions) {
    this.#options = options;
  }

  /** Begins in the background with what fell due while no server ran. */
  start(): void {
    if (this.#state !== 'idle') return;
    this.#state = 'active';
    this.#begin();
  }

  /** A task waits until then, in milliseconds since the epoch. */
  heed(deadline: number): void {
    if (this.#state !== 'active') return;
    if (this.#round !== undefined) this.#told = Math.min(this.#told, deadline);
    else if (this.#timer !== undefined && deadline < this.#timer.at) this.#arm(deadline);
  }

  /** Begins nothing more. Resolves when the round under way has come to its end. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    this.#timer?.cancel();
    await this.#round;
  }

  /** Resolves when no round is under way. */
  async settled(): Promise<void> {
    await this.#round;
  }

  #begin(): void {
    this.#timer = undefined;
    this.#told = Number.POSITIVE_INFINITY;
    this.#round = this.#run();
  }

  async #run(): Promise<void> {
    const next = await this.#work();
    this.#round = undefined;
    if (this.#state === 'active') this.#arm(Math.min(next, this.#told));
  }

  #arm(at: number): void {
    this.#timer?.cancel();
    const now = this.#options.clock.now();
    const ms = Math.max(0, Math.min(at - now, LOOK_AGAIN_MS));
    this.#timer = { at: now + ms, cancel: this.#options.clock.after(ms, () => this.#begin()) };
  }

  /** @returns when there is more to do. */
  async #work(): Promise<number> {
    try {
      const next = await this.#expire();
      // Before anything is deleted: what is packed is deleted in a moment.
      await this.#compact();
      await this.#forget();
      return next;
    } catch (error) {
      if (this.#state === 'active') this.#options.onFailure(error);
      return this.#options.clock.now() + RETRY_MS;
    }
  }

  async #forget(): Promise<void> {
    const { journal, clock, retentionMs } = this.#options;
    if (retentionMs === null) return;
    const before = clock.now() - retentionMs;
    while (this.#state === 'active' && (await journal.forget(before, FORGOTTEN_AT_ONCE)) > 0)
      await nextTurn();
  }

  async #compact(): Promise<void> {
    const { journal } = this.#options;
    while (this.#state === 'active' && (await journal.compact(COMPACTED_AT_ONCE)) > 0) await nextTurn();
  }

  /** Ends what is due. @returns the next deadline. */
  async #expire(): Promise<number> {
    const { journal, log, clock, onEnded } = this.#options;
    /** Once each in a round: what the index calls due and the core does not must not keep the process busy for ever. */
    const looked = new Set<string>();
    while (this.#state === 'active') {
      const now = clock.now();
      const rows = await journal.deadlines(BATCH + looked.size);
      const due = rows.filter(({ taskId, deadline }) => (deadline ?? now) <= now && !looked.has(taskId));
      if (due.length === 0) return rows.find(({ deadline }) => (deadline ?? now) > now)?.deadline ?? Infinity;
      const changes = await Promise.all(
        due.map(async ({ taskId }) => ({ taskId, changed: await log.change(taskId, (s) => expire(s, now)) })),
      );
      for (const { taskId, changed } of changes) {
        if (changed?.type === 'appended') onEnded(taskId);
        else looked.add(taskId);
      }
      await nextTurn();
    }
    return Infinity;
  }
}

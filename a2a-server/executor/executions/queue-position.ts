/** Tells readers at which place of the queue a new task waits for a slot. */
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { CountsByScope } from '../../limits/limits.ts';
import type { TaskEvent } from '../../task/events.ts';
import type { Snapshot } from '../../task/snapshot.ts';

/**
 * The time after which a task that waits for a slot reports its place in the queue, in milliseconds. Even under load,
 * most tasks wait for a shorter time and report nothing.
 */
const REPORT_PLACE_MS = 1_000;

/** The shortest time between two events about the place in the queue, in milliseconds. */
const REPORT_AGAIN_MS = 10_000;

/**
 * Returns the event that names the task's place in the queue. Returns nothing if the task has begun or ended.
 * @param ahead the number of tasks of the same principal that go first
 */
export function queuePositionEvents({ status }: Snapshot, ahead: number, limit: CountsByScope): TaskEvent[] {
  if (status.state !== 'submitted') return [];
  const place =
    ahead === 0
      ? 'It is the next of your tasks'
      : `${String(ahead)} of your tasks ${ahead === 1 ? 'goes' : 'go'} first`;
  const text = `The task waits for its turn. ${place}. This server runs ${String(limit.server)} tasks at a time, and ${String(limit.principal)} of one user.`;
  return [{ type: 'task.queued', ahead, text }];
}

/** Decides when a waiting task reports its place in the queue: after a while, and again when the task has moved. */
export class QueuePositionReports {
  readonly #clock: Clock;
  readonly #report: () => Promise<void> | undefined;
  /** The time of the last report, as `Clock.elapsed` gives it. */
  #reportedAt: number | undefined;
  /** Resolves when the last report is durable. */
  #reported: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;

  /** @param report appends the event. Returns undefined if the task gets no event now. Must not reject. */
  constructor(clock: Clock, report: () => Promise<void> | undefined) {
    this.#clock = clock;
    this.#report = report;
  }

  start(): void {
    this.#cancelTimer = this.#clock.after(REPORT_PLACE_MS, () => this.#reportNow());
  }

  /** Called when the number of tasks ahead has halved. */
  moved(): void {
    if (this.#reportedAt !== undefined && this.#clock.elapsed() - this.#reportedAt >= REPORT_AGAIN_MS)
      this.#reportNow();
  }

  /** Cancels the first report if it is not due yet. Resolves when the last report is durable. */
  async end(): Promise<void> {
    this.#cancelTimer?.();
    await this.#reported;
  }

  #reportNow(): void {
    const reported = this.#report();
    if (reported === undefined) return;
    this.#reportedAt = this.#clock.elapsed();
    this.#reported = reported;
  }
}

import type { Clock } from '../../shared/runtime/clock.ts';

/** Runs operations now or later, at most one of each key at a time. After `stop`, starts nothing more. */
export class KeyedOperations {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #stop = new AbortController();
  readonly #running = new Map<string, Promise<void>>();
  /** The keys of operations that must run once more after their current run. */
  readonly #again = new Set<string>();
  readonly #timers = new Map<string, () => void>();

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** Aborts at `stop`. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /**
   * Runs the operation of a key, and cancels its timer. If the operation is already running, runs it once more
   * afterwards. The operation must not reject.
   */
  run(key: string, operation: () => Promise<void>): void {
    if (this.signal.aborted) return;
    if (this.#running.has(key)) {
      this.#again.add(key);
      return;
    }
    this.cancelTimer(key);
    const run = operation().finally(() => {
      this.#running.delete(key);
      if (this.#again.delete(key)) this.run(key, operation);
    });
    this.#running.set(key, run);
  }

  /** Runs the operation of a key after `ms` milliseconds, unless it runs earlier. */
  runLater(key: string, ms: number, operation: () => Promise<void>): void {
    if (!this.signal.aborted)
      this.#timers.set(
        key,
        this.#clock.after(ms, () => this.run(key, operation)),
      );
  }

  cancelTimer(key: string): void {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
  }

  /** Cancels all timers. Resolves when no operation runs. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const cancel of this.#timers.values()) cancel();
    await Promise.all(this.#running.values());
  }
}

/**
 * The rule of `--on-disconnect cancel`: the server cancels a running task if its last reader leaves and no client reads
 * it again within `RECONNECT_MS`.
 *
 * - The rule begins with a message that a client sends over a stream or in a blocking request. It ends when the task
 *   waits or ends.
 * - Every stream and every blocking request of the task is a reader. The time `RECONNECT_MS` begins when the last
 *   reader leaves.
 * - A reader leaves if its connection is cut, or if its stream reaches its maximum lifetime. After any other end of the
 *   last reader, the task continues without readers.
 * - A message whose sender does not wait ends the rule for its task. A restart of the server ends the rule for all
 *   tasks.
 */
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { ReaderEnd } from '../auth/caller.ts';

export const ON_DISCONNECT = ['detach', 'cancel'] as const;

/** The maximum time without a reader, in milliseconds. */
export const RECONNECT_MS = 10_000;

/** A message whose sender reads the task's events after the message. */
export interface ReadMessage {
  principal: string;
  /** The task's `seq` when the server accepted the message. */
  seq: number;
}

export interface Disconnects {
  /**
   * Registers a reader of the task.
   * @param message the message of this reader, if the reader has sent one
   * @returns a function to call when the reader ends
   */
  reads(taskId: string, message?: ReadMessage): (end: ReaderEnd) => void;
  /** Ends the rule for the task, because the sender of a message does not wait. The task continues without readers. */
  detach(taskId: string): void;
  /** Ends the rule for all tasks, for good. */
  stop(): void;
}

export const IGNORED_DISCONNECTS: Disconnects = {
  reads: () => () => undefined,
  detach: () => undefined,
  stop: () => undefined,
};

interface CancellingParts {
  clock: Clock;
  /** Resolves when the task, after this message, waits or ends. Also resolves when the signal aborts. */
  settled: (taskId: string, message: ReadMessage, signal: AbortSignal) => Promise<void>;
  /** Cancels the task, unless a newer message has arrived. */
  cancel: (taskId: string, message: ReadMessage) => void;
}

interface Watch {
  message: ReadMessage;
  end: AbortController;
}

interface ReadTask {
  /** The number of open readers. */
  readers: number;
  /** Present while the rule applies to the task. */
  watch?: Watch | undefined;
  disarm?: () => void;
}

export class CancellingDisconnects implements Disconnects {
  readonly #parts: CancellingParts;
  readonly #tasks = new Map<string, ReadTask>();
  #stopped = false;

  constructor(parts: CancellingParts) {
    this.#parts = parts;
  }

  reads(taskId: string, message?: ReadMessage): (end: ReaderEnd) => void {
    const task = this.#tasks.get(taskId) ?? { readers: 0 };
    this.#tasks.set(taskId, task);
    task.readers += 1;
    task.disarm?.();
    if (message !== undefined) this.#watch(taskId, task, message);
    return (end) => {
      task.readers -= 1;
      if (task.readers > 0) return;
      if (end === 'over') this.detach(taskId);
      else if (task.watch !== undefined) this.#arm(taskId, task, task.watch);
      else this.#tasks.delete(taskId);
    };
  }

  detach(taskId: string): void {
    const task = this.#tasks.get(taskId);
    if (task === undefined) return;
    task.disarm?.();
    task.watch?.end.abort();
    task.watch = undefined;
    if (task.readers === 0) this.#tasks.delete(taskId);
  }

  stop(): void {
    this.#stopped = true;
    for (const taskId of this.#tasks.keys()) this.detach(taskId);
  }

  #watch(taskId: string, task: ReadTask, message: ReadMessage): void {
    if (this.#stopped) return;
    task.watch?.end.abort();
    const watch = { message, end: new AbortController() };
    task.watch = watch;
    const settled = (): void => {
      if (task.watch === watch) this.detach(taskId);
    };
    this.#parts.settled(taskId, message, watch.end.signal).then(settled, settled);
  }

  #arm(taskId: string, task: ReadTask, { message }: Watch): void {
    task.disarm = this.#parts.clock.after(RECONNECT_MS, () => {
      this.detach(taskId);
      this.#parts.cancel(taskId, message);
    });
  }
}

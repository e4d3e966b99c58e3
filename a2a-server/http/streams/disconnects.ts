/**
 * The rule of `--on-disconnect cancel`: a running task is cancelled when its last reader has left and none comes back.
 *
 * - The rule applies to a task from a message over a stream or a blocking request on, until the task waits or ends.
 * - Every reader of the task counts. The time runs from the end of the last one.
 * - In doubt the task continues: after a message whose sender does not wait, if the last reader ends in any way
 *   other than a cut or the stream's lifetime, and after a restart of the server.
 */
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { ReaderEnd } from '../auth/caller.ts';

export const ON_DISCONNECT = ['detach', 'cancel'] as const;

/** How long a reader has to come back, in milliseconds. */
export const RECONNECT_MS = 10_000;

/** A message whose sender reads the task. */
export interface ReadMessage {
  principal: string;
  /** The position of the message in the task's journal. */
  seq: number;
}

export interface Disconnects {
  /**
   * A reader of the task begins.
   * @param message set if the reader is the sender of this message @returns call it when the reader ends
   */
  reads(taskId: string, message?: ReadMessage): (end: ReaderEnd) => void;
  /** A client that does not wait sent a message to the task. The task goes on without readers. */
  detach(taskId: string): void;
  /** From now on no task is cancelled. */
  stop(): void;
}

export const IGNORED_DISCONNECTS: Disconnects = {
  reads: () => () => undefined,
  detach: () => undefined,
  stop: () => undefined,
};

interface CancellingParts {
  clock: Clock;
  /** Resolves when the task waits or has ended after this message, or when the signal aborts. */
  settled: (taskId: string, message: ReadMessage, signal: AbortSignal) => Promise<void>;
  cancel: (taskId: string, principal: string) => void;
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

  #arm(taskId: string, task: ReadTask, { message: { principal } }: Watch): void {
    task.disarm = this.#parts.clock.after(RECONNECT_MS, () => {
      this.detach(taskId);
      this.#parts.cancel(taskId, principal);
    });
  }
}

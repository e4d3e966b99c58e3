/**
 * Says whether a client reads a task at another server that uses the same database. Each server has a record for each
 * task that a client reads there. A killed server leaves its records behind. Their tasks count as read until a later
 * start of a server removes the records. A task also counts as read if the records cannot be read. While the records
 * cannot be written, one timer tries all changes again.
 */
import { randomBytes } from 'node:crypto';
import { onAbort } from '../../../shared/runtime/abort.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import { sha256 } from '../../../shared/runtime/sha256.ts';
import type { RecordStore } from '../../records/record-store.ts';

/** A record of this age belongs to no reader any more, because every stream is much shorter. */
const OLD_MS = 24 * 60 * 60_000;

/** The delay before the next attempt to store the changes. */
const RETRY_MS = 5_000;

interface ReadersAtOtherServersParts {
  /** The records that all servers share. */
  records: Pick<RecordStore, 'list' | 'replace' | 'remove' | 'watch'>;
  clock: Pick<Clock, 'now' | 'after'>;
  log: Pick<Logger, 'info' | 'error'>;
}

export class ReadersAtOtherServers {
  readonly #parts: ReadersAtOtherServersParts;
  readonly #server = randomBytes(8).toString('hex');
  /** The tasks that a client reads here. */
  readonly #read = new Set<string>();
  /** The tasks whose last change is not stored yet. */
  readonly #unstored = new Set<string>();
  #storing = false;
  #stopRetry: (() => void) | undefined;
  #closed = false;
  /** True after a failure, until the next success. The log reports only the first failure of an outage. */
  #failing = false;
  /** The writes run one after another, so that the removal of a record follows its creation. */
  #written: Promise<unknown> = Promise.resolve();

  constructor(parts: ReadersAtOtherServersParts) {
    this.#parts = parts;
  }

  /** Tells the other servers that a client reads the task here. */
  begin(taskId: string): void {
    this.#read.add(taskId);
    this.#store(taskId);
  }

  /** Tells the other servers that no client reads the task here any more. */
  end(taskId: string): void {
    this.#read.delete(taskId);
    this.#store(taskId);
  }

  /**
   * Resolves when no client reads the task at another server, or when the signal aborts.
   * @returns true if a client read the task at another server when this method was called
   */
  async untilNone(taskId: string, signal: AbortSignal): Promise<boolean> {
    if (!(await this.#exist(taskId))) return false;
    if (signal.aborted) return true;
    this.#parts.log.info({ taskId }, 'a task goes on, because a client reads it at another server');
    await new Promise<void>((resolve) => {
      const end = (): void => {
        stopWatching();
        stopListening();
        resolve();
      };
      const check = async (): Promise<void> => {
        if (!(await this.#exist(taskId))) end();
      };
      const stopWatching = this.#parts.records.watch('readers', () => void check());
      const stopListening = onAbort(signal, end);
    });
    return true;
  }

  /** Removes the records that killed servers have left behind. */
  removeOld(): void {
    const { records, clock } = this.#parts;
    this.#write(async () => {
      for (const [name, since] of await records.list('readers'))
        if (Number(since) < clock.now() - OLD_MS) await records.remove('readers', name);
    });
  }

  /** Resolves when the last attempt to write the records has ended. After this call, there is no further attempt. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopRetry?.();
    await this.#written;
  }

  async #exist(taskId: string): Promise<boolean> {
    try {
      const names = [...(await this.#parts.records.list('readers', prefixOf(taskId))).keys()];
      this.#failing = false;
      return names.some((name) => name !== this.#nameOf(taskId));
    } catch (error) {
      this.#complain(error);
      return true;
    }
  }

  /** Stores whether a client reads the task here. */
  #store(taskId: string): void {
    this.#unstored.add(taskId);
    this.#startStoring();
  }

  #startStoring(): void {
    // A running attempt stores this change too.
    if (this.#storing) return;
    this.#storing = true;
    this.#write(() => this.#storeAll());
  }

  /** Stores all changes. Stops at the first failure, because the other changes would fail too. */
  async #storeAll(): Promise<void> {
    this.#stopRetry?.();
    try {
      for (const taskId of this.#unstored) await this.#storeOne(taskId);
      this.#failing = false;
    } finally {
      this.#storing = false;
    }
  }

  async #storeOne(taskId: string): Promise<void> {
    const { records, clock } = this.#parts;
    // The task may change again during the write.
    this.#unstored.delete(taskId);
    try {
      if (this.#read.has(taskId)) await records.replace('readers', this.#nameOf(taskId), String(clock.now()));
      else await records.remove('readers', this.#nameOf(taskId));
    } catch (error) {
      this.#unstored.add(taskId);
      // A closed journal throws another error. So a server that stops does not try again.
      if (!this.#closed && error instanceof ProductError && error.reason === 'STORAGE')
        this.#stopRetry = clock.after(RETRY_MS, () => this.#startStoring());
      throw error;
    }
  }

  #write(work: () => Promise<unknown>): void {
    this.#written = this.#written.then(work).catch((error: unknown) => this.#complain(error));
  }

  #complain(error: unknown): void {
    if (this.#failing) return;
    this.#failing = true;
    this.#parts.log.error({ err: error }, 'the readers of tasks at other servers are unknown');
  }

  #nameOf(taskId: string): string {
    return `${prefixOf(taskId)}${this.#server}`;
  }
}

/**
 * The record name has a hash of the task id. The id itself may be too long for a name, or have characters that a name
 * must not have.
 */
function prefixOf(taskId: string): string {
  return `${sha256(taskId).slice(0, 32)}-`;
}

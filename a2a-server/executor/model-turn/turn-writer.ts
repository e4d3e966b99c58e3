import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TaskEvent } from '../../task/events.ts';
import type { TaskJournal } from '../task-journal/task-journal.ts';

/** The maximum number of unwritten events of a turn. Above it, the model has to wait. */
const MAX_UNWRITTEN_EVENTS = 2048;

/** Appends the events of a turn in order. Events that arrive during an append share the next append. */
export class TurnWriter {
  readonly #taskJournal: TaskJournal;
  readonly #taskId: string;
  readonly #turn: number;
  #unwritten: TaskEvent[] = [];
  #writing: Promise<void> | undefined;
  #closed = false;
  #failure: { error: unknown } | undefined;

  constructor(taskJournal: TaskJournal, taskId: string, turn: number) {
    this.#taskJournal = taskJournal;
    this.#taskId = taskId;
    this.#turn = turn;
  }

  /**
   * Adds an event. Returns undefined if only few events are unwritten. Otherwise returns a promise, and the caller must
   * wait for the append.
   */
  write(event: TaskEvent): Promise<void> | undefined {
    this.#unwritten.push(event);
    this.#writing ??= this.#drain();
    return this.#unwritten.length < MAX_UNWRITTEN_EVENTS && this.#failure === undefined
      ? undefined
      : this.flush();
  }

  async flush(): Promise<void> {
    await this.#writing;
    if (this.#failure) throw this.#failure.error;
  }

  /** Waits for the append in progress. Returns the unwritten events, which the caller must append. */
  async close(): Promise<readonly TaskEvent[]> {
    this.#closed = true;
    await this.flush();
    return this.#unwritten;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#unwritten.length > 0) {
        // Events that arrive in the same turn of the event loop share one append.
        await nextTurn();
        if (this.#closed) return;
        const events = this.#unwritten;
        this.#unwritten = [];
        await this.#taskJournal.change(this.#taskId, (s) => (s.openTurn?.turn === this.#turn ? events : []));
      }
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#writing = undefined;
    }
  }
}

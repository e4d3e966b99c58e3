/**
 * Reads the streams of one task.
 *
 * Invariants
 * - One stream folds at any instant: the newest (S1).
 * - A cut stream resumes from the last event that was read. The back-off restarts after a sound stream.
 */
import type { StreamResponse } from '@a2a-js/sdk';
import pRetry, { AbortError } from 'p-retry';
import { onAbort } from '../../shared/runtime/abort.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Agent } from '../agents/agent.ts';
import type { Connection } from '../agents/connection.ts';
import type { BackOff } from './back-off.ts';
import type { TaskView } from './task-view.ts';

/**
 * A stream is sound if it lived this long or delivered something new. The back-off then starts afresh. A stream that
 * never began is not sound.
 */
const STEADY_MS = 5_000;

/** What the reader needs from the session. */
export interface TaskReading {
  agent: Agent;
  backOff: BackOff;
  /** Aborts when the bridge closes the session. */
  signal: AbortSignal;
  /** The current view. */
  view: () => TaskView | undefined;
  /** The session needs no more events. */
  enough: () => boolean;
  take: (event: StreamResponse, connection: Connection) => void;
  /** A stream ended by itself. The state in which it ended is then final. */
  rested: () => void;
  /** Reading has ended. `trouble`: why no stream could be kept. */
  over: (trouble: ProductError | undefined) => void;
}

export class TaskReader {
  readonly #for: TaskReading;
  #streams = 0;
  /** The number of the stream that folds. */
  #folding = 0;
  #live = false;
  /** Aborts the stream opened last, while it is read. */
  #opened: AbortController | undefined;

  constructor(reading: TaskReading) {
    this.#for = reading;
  }

  /** The folding stream is being read, or is about to be reopened. */
  get live(): boolean {
    return this.#live;
  }

  /** The agent answered a message with a stream: from now on this stream folds. */
  begin(first: StreamResponse, rest: AsyncIterator<StreamResponse>, connection: Connection): void {
    const stream = this.#next();
    this.#opened?.abort();
    this.#opened = undefined;
    this.#for.take(first, connection);
    void this.#readOn(stream, rest, connection);
  }

  /** Opens the task's stream, and reopens it until the session needs no more or the back-off is used up. */
  open(taskId: string): void {
    const opened = new AbortController();
    this.#opened = opened;
    const release = onAbort(this.#for.signal, () => opened.abort());
    void this.#keepReading(this.#next(), taskId, opened.signal).finally(release);
  }

  /** Closes a stream that `open` opened. The answer stream of a message ends by itself. */
  close(): void {
    if (!this.#live || this.#opened === undefined) return;
    this.#folding = ++this.#streams;
    this.#live = false;
    this.#opened.abort();
  }

  #next(): number {
    this.#folding = ++this.#streams;
    this.#live = true;
    return this.#folding;
  }

  async #readOn(
    stream: number,
    events: AsyncIterator<StreamResponse>,
    connection: Connection,
  ): Promise<void> {
    let sound = true;
    try {
      for (let next = await events.next(); next.done !== true; next = await events.next()) {
        if (this.#folding === stream) this.#for.take(next.value, connection);
      }
    } catch {
      // A cut is not a failure: the stream resumes from the last event that was read.
      sound = false;
    }
    if (this.#folding !== stream) return;
    this.#live = false;
    if (sound) this.#for.rested();
    this.#for.over(undefined);
  }

  async #keepReading(stream: number, taskId: string, signal: AbortSignal): Promise<void> {
    const { backOff, agent, over } = this.#for;
    let trouble: ProductError | undefined;
    try {
      await pRetry(() => this.#readAgain(stream, taskId, signal), { ...backOff, signal });
    } catch (thrown) {
      if (signal.aborted) return;
      trouble = agent.failed(thrown);
    }
    if (this.#folding !== stream) return;
    this.#live = false;
    over(trouble);
  }

  async #readAgain(stream: number, taskId: string, signal: AbortSignal): Promise<void> {
    const { agent, view, enough, rested } = this.#for;
    for (;;) {
      const since = performance.now();
      const from = view()?.seq ?? null;
      let cut: ProductError | undefined;
      try {
        await this.#readOnce(stream, taskId, signal);
        if (this.#folding === stream) rested();
      } catch (thrown) {
        cut = agent.failed(thrown);
        // The agent refused: the same request would be refused again.
        if (!cut.retryable && cut.reason !== 'AGENT_ERROR') throw new AbortError(cut);
      }
      if (this.#folding !== stream || enough()) return;
      const silent = cut?.facts['trouble'] === 'timeout';
      const sound = !silent && (performance.now() - since >= STEADY_MS || (view()?.seq ?? null) !== from);
      if (!sound) throw cut ?? this.#endsEarly();
    }
  }

  async #readOnce(stream: number, taskId: string, signal: AbortSignal): Promise<void> {
    const { agent, view, take, enough } = this.#for;
    const connection = await agent.connect();
    const known = view();
    await connection.follow({
      taskId,
      after: known?.taskId === taskId ? known.seq : null,
      signal,
      onEvent: (event) => {
        if (this.#folding !== stream) return 'enough';
        take(event, connection);
        return enough() ? 'enough' : 'more';
      },
    });
  }

  #endsEarly(): ProductError {
    return new ProductError(
      'AGENT_UNREACHABLE',
      `Agent "${this.#for.agent.name}" ends the task's stream before the task has settled.`,
    );
  }
}

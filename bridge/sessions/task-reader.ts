/**
 * Reads the streams of one task.
 *
 * Invariants
 * - At any time only one stream folds: the newest (S1).
 * - A cut stream resumes after the last event that was read.
 */
import type { StreamResponse } from '@a2a-js/sdk';
import { onAbort } from '../../shared/runtime/abort.ts';
import type { ProductError } from '../../shared/runtime/errors.ts';
import type { BackOff } from '../../shared/runtime/back-off.ts';
import type { Agent } from '../agents/agent.ts';
import type { A2aConnection } from '../agents/connection.ts';
import { followTask } from '../agents/follow-task.ts';
import type { TaskView } from './task-view.ts';

/** A change of the stream that the bridge reads. */
export type StreamChange =
  | { type: 'opened' }
  | { type: 'closed' }
  /** The stream was cut, or could not be opened. */
  | { type: 'broken'; error: ProductError };

/** The functions of the session that the reader calls. */
interface TaskReading {
  agent: Agent;
  backOff: BackOff;
  /** Aborts when the bridge closes the session. */
  signal: AbortSignal;
  /** The current view. */
  view: () => TaskView | undefined;
  /** Returns true if the session needs no more events. */
  enough: () => boolean;
  take: (event: StreamResponse, connection: A2aConnection) => void;
  /** Called when the agent has closed a stream without an error. The task then waits, or has ended. */
  streamEnded: () => void;
  streamed: (change: StreamChange) => void;
  /** Called when the reader has stopped. `trouble` is the reason why it could not keep a stream open. */
  over: (trouble: ProductError | undefined) => void;
}

export class TaskReader {
  readonly #for: TaskReading;
  #streams = 0;
  /** The number of the newest stream. Only the events of this stream are folded. */
  #folding = 0;
  #live = false;
  /** Aborts the newest stream that `open` opened; undefined while no such stream is read. */
  #opened: AbortController | undefined;

  constructor(reading: TaskReading) {
    this.#for = reading;
  }

  /** True if the newest stream is open, or if the reader will soon open it again. */
  get live(): boolean {
    return this.#live;
  }

  /**
   * Reads the stream with which the agent responds to a message. This stream is now the newest, so only its events are
   * folded.
   */
  begin(first: StreamResponse, rest: AsyncIterator<StreamResponse>, connection: A2aConnection): void {
    const stream = this.#next();
    this.#opened?.abort();
    this.#opened = undefined;
    this.#for.take(first, connection);
    void this.#readOn(stream, rest, connection);
  }

  /** Opens the task's stream. Opens it again until the session needs no more events or the back-off ends. */
  open(taskId: string): void {
    const opened = new AbortController();
    this.#opened = opened;
    const release = onAbort(this.#for.signal, () => opened.abort());
    void this.#keepReading(this.#next(), taskId, opened.signal).finally(release);
  }

  /** Closes the stream that `open` opened. It does not close a stream that responds to a message. */
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
    connection: A2aConnection,
  ): Promise<void> {
    const { agent, streamed } = this.#for;
    let sound = true;
    streamed({ type: 'opened' });
    try {
      for (let next = await events.next(); next.done !== true; next = await events.next()) {
        if (this.#folding === stream) this.#for.take(next.value, connection);
      }
      streamed({ type: 'closed' });
    } catch (thrown) {
      // A cut stream is no failure, because the next stream continues after the last event.
      sound = false;
      streamed({ type: 'broken', error: agent.failed(thrown) });
    }
    if (this.#folding !== stream) return;
    this.#live = false;
    if (sound) this.#for.streamEnded();
    this.#for.over(undefined);
  }

  async #keepReading(stream: number, taskId: string, signal: AbortSignal): Promise<void> {
    const { backOff, agent, view, enough, take, streamEnded, over, streamed } = this.#for;
    const folds = (): boolean => this.#folding === stream;
    let trouble: ProductError | undefined;
    let open = false;
    const report = (change: StreamChange): void => {
      if (change.type === 'closed' && !open) return;
      open = change.type === 'opened';
      streamed(change);
    };
    // A closed session reads no more events, so the reader reports the close at once.
    const stopListening = onAbort(signal, () => report({ type: 'closed' }));
    try {
      await followTask({
        agent,
        taskId,
        signal,
        backOff,
        position: () => (view()?.taskId === taskId ? (view()?.seq ?? null) : null),
        enough: () => !folds() || enough(),
        onEvent: (event, connection) => folds() && take(event, connection),
        onOpen: () => report({ type: 'opened' }),
        onEnd() {
          report({ type: 'closed' });
          if (folds()) streamEnded();
        },
        onCut: (error) => report({ type: 'broken', error }),
      });
      report({ type: 'closed' });
    } catch (thrown) {
      if (signal.aborted) return;
      trouble = agent.failed(thrown);
      report({ type: 'broken', error: trouble });
    } finally {
      stopListening();
    }
    if (!folds()) return;
    this.#live = false;
    over(trouble);
  }
}

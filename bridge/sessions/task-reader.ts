/**
 * Reads the streams of one task.
 *
 * Invariants
 * - Only the newest stream folds its events (S1).
 * - After an interruption, the stream resumes after the last event that was read.
 */
import type { StreamResponse } from '@a2a-js/sdk';
import { onAbort } from '../../shared/runtime/abort.ts';
import type { ProductError } from '../../shared/runtime/errors.ts';
import type { BackOff } from '../../shared/runtime/back-off.ts';
import type { Agent } from '../agents/agent.ts';
import type { A2aConnection } from '../agents/connection.ts';
import { followTask } from '../agents/follow-task.ts';
import type { TaskView } from './task-view.ts';

export type StreamChange =
  | { type: 'opened' }
  | { type: 'closed' }
  /** The stream broke, or could not be opened. */
  | { type: 'broken'; error: ProductError };

/** The session's functions that the reader calls. */
interface TaskReading {
  agent: Agent;
  backOff: BackOff;
  signal: AbortSignal;
  view: () => TaskView | undefined;
  /** Returns true if the session needs no more events. */
  enough: () => boolean;
  take: (event: StreamResponse, connection: A2aConnection) => void;
  /** Called when the agent has closed a stream without an error. The task then waits, or has ended. */
  streamEnded: () => void;
  streamed: (change: StreamChange) => void;
  /** Called when the reader has stopped. `trouble` explains why it could not keep a stream open. */
  over: (trouble: ProductError | undefined) => void;
}

/** A stream that responds to a message, or one that `open` subscribed to. Compared by identity. */
type Stream = { type: 'response' } | { type: 'subscription'; end: AbortController };

export class TaskReader {
  readonly #for: TaskReading;
  /** The newest stream, whose events alone are folded; undefined if the reader reads none. */
  #newest: Stream | undefined;

  constructor(reading: TaskReading) {
    this.#for = reading;
  }

  /** True if the newest stream is open, or if the reader will soon open it again. */
  get live(): boolean {
    return this.#newest !== undefined;
  }

  /** Reads the stream with which the agent responds to a message. This stream becomes the newest. */
  begin(first: StreamResponse, rest: AsyncIterator<StreamResponse>, connection: A2aConnection): void {
    const earlier = this.#newest;
    const stream: Stream = { type: 'response' };
    this.#newest = stream;
    if (earlier?.type === 'subscription') earlier.end.abort();
    this.#for.take(first, connection);
    void this.#readOn(stream, rest, connection);
  }

  /** Opens the task's stream. Reopens it until the session needs no more events or the retries are used up. */
  open(taskId: string): void {
    const end = new AbortController();
    const stream: Stream = { type: 'subscription', end };
    this.#newest = stream;
    const release = onAbort(this.#for.signal, () => end.abort());
    void this.#keepReading(stream, taskId, end.signal).finally(release);
  }

  /** Closes the stream that `open` opened, but no stream that responds to a message. */
  close(): void {
    const stream = this.#newest;
    if (stream?.type !== 'subscription') return;
    this.#newest = undefined;
    stream.end.abort();
  }

  async #readOn(
    stream: Stream,
    events: AsyncIterator<StreamResponse>,
    connection: A2aConnection,
  ): Promise<void> {
    const { agent, streamed } = this.#for;
    let sound = true;
    streamed({ type: 'opened' });
    try {
      for (let next = await events.next(); next.done !== true; next = await events.next()) {
        if (this.#newest === stream) this.#for.take(next.value, connection);
      }
      streamed({ type: 'closed' });
    } catch (thrown) {
      // A broken stream is no failure, because the next stream continues after the last event.
      sound = false;
      streamed({ type: 'broken', error: agent.failed(thrown) });
    }
    if (this.#newest !== stream) return;
    this.#newest = undefined;
    if (sound) this.#for.streamEnded();
    this.#for.over(undefined);
  }

  async #keepReading(stream: Stream, taskId: string, signal: AbortSignal): Promise<void> {
    const { backOff, agent, view, enough, take, streamEnded, over, streamed } = this.#for;
    const folds = (): boolean => this.#newest === stream;
    let trouble: ProductError | undefined;
    let open = false;
    const report = (change: StreamChange): void => {
      if (change.type === 'closed' && !open) return;
      open = change.type === 'opened';
      streamed(change);
    };
    // A closed session reads no more events, so the reader reports the close immediately.
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
    this.#newest = undefined;
    over(trouble);
  }
}

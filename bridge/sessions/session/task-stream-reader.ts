/**
 * Reads the streams of one task.
 *
 * Invariants
 * - S1: no event is lost or repeated. So only the events of the newest stream count.
 * - After an interruption, the next stream continues after the last event that was read.
 */
import type { StreamResponse } from '@a2a-js/sdk';
import { onAbort } from '../../../shared/runtime/abort.ts';
import type { ProductError } from '../../../shared/runtime/errors.ts';
import type { BackOffOptions } from '../../../shared/runtime/back-off.ts';
import type { Agent } from '../../agents/agent.ts';
import type { A2aConnection } from '../../agents/connection.ts';
import { followTask } from '../../agents/follow-task.ts';
import type { TaskView } from './observed-task.ts';

export type TaskStreamChange =
  | { type: 'opened' }
  | { type: 'closed' }
  /** The stream has broken, or could not be opened. */
  | { type: 'broken'; error: ProductError };

/** The functions of the session that the reader calls. */
interface TaskReading {
  agent: Agent;
  backOff: BackOffOptions;
  signal: AbortSignal;
  view: () => TaskView | undefined;
  /** Returns true if the session needs no more events. */
  enough: () => boolean;
  applyEvent: (event: StreamResponse, connection: A2aConnection) => void;
  /** Called when the agent has closed a stream without an error. Usually the task then waits, or has ended. */
  streamEnded: () => void;
  streamed: (change: TaskStreamChange) => void;
  /** Called when the reader has stopped. `streamProblem` says why it could not keep a stream open. */
  over: (streamProblem: ProductError | undefined) => void;
}

/**
 * A stream: the response to a message, or a subscription that `open` started. Two streams are equal only if they are
 * the same object.
 */
type OpenStream = { type: 'response' } | { type: 'subscription'; end: AbortController };

export class TaskStreamReader {
  readonly #for: TaskReading;
  /** The newest stream. Only its events count. Undefined if the reader reads no stream. */
  #newest: OpenStream | undefined;

  constructor(reading: TaskReading) {
    this.#for = reading;
  }

  /** True if the newest stream is open, or will soon be opened again. */
  get isReading(): boolean {
    return this.#newest !== undefined;
  }

  /** Reads the stream of an agent's response to a message. This stream becomes the newest. */
  begin(first: StreamResponse, rest: AsyncIterator<StreamResponse>, connection: A2aConnection): void {
    const earlier = this.#newest;
    const stream: OpenStream = { type: 'response' };
    this.#newest = stream;
    if (earlier?.type === 'subscription') earlier.end.abort();
    this.#for.applyEvent(first, connection);
    void this.#readOn(stream, rest, connection);
  }

  /**
   * Opens the stream of the task. Opens it again until the session needs no more events, or no more retries are left.
   */
  open(taskId: string): void {
    const end = new AbortController();
    const stream: OpenStream = { type: 'subscription', end };
    this.#newest = stream;
    const release = onAbort(this.#for.signal, () => end.abort());
    void this.#keepReading(stream, taskId, end.signal).finally(release);
  }

  /** Closes the stream that `open` has opened. A stream that is the response to a message stays open. */
  close(): void {
    const stream = this.#newest;
    if (stream?.type !== 'subscription') return;
    this.#newest = undefined;
    stream.end.abort();
  }

  async #readOn(
    stream: OpenStream,
    events: AsyncIterator<StreamResponse>,
    connection: A2aConnection,
  ): Promise<void> {
    const { agent, streamed } = this.#for;
    let sound = true;
    streamed({ type: 'opened' });
    try {
      for (let next = await events.next(); next.done !== true; next = await events.next()) {
        if (this.#newest === stream) this.#for.applyEvent(next.value, connection);
      }
      streamed({ type: 'closed' });
    } catch (thrown) {
      // A broken stream is not a failure, because the next stream continues after the last event.
      sound = false;
      streamed({ type: 'broken', error: agent.failed(thrown) });
    }
    if (this.#newest !== stream) return;
    this.#newest = undefined;
    // An agent without streams closes its response at once, even if the task still works. So the end of its response
    // does not show that the task waits or has ended.
    if (sound && connection.facts.streaming) this.#for.streamEnded();
    this.#for.over(undefined);
  }

  async #keepReading(stream: OpenStream, taskId: string, signal: AbortSignal): Promise<void> {
    const { backOff, agent, view, enough, applyEvent: take, streamEnded, over, streamed } = this.#for;
    const folds = (): boolean => this.#newest === stream;
    let streamProblem: ProductError | undefined;
    let open = false;
    const report = (change: TaskStreamChange): void => {
      if (change.type === 'closed' && !open) return;
      open = change.type === 'opened';
      streamed(change);
    };
    // A closed session reads no more events. So the reader reports immediately that the stream is closed.
    const stopListening = onAbort(signal, () => report({ type: 'closed' }));
    try {
      await followTask({
        agent,
        taskId,
        signal,
        backOff,
        position: () => (view()?.taskId === taskId ? (view()?.seq ?? null) : null),
        enough: () => !folds() || enough(),
        onEvent(event, connection) {
          if (folds()) take(event, connection);
        },
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
      streamProblem = agent.failed(thrown);
      report({ type: 'broken', error: streamProblem });
    } finally {
      stopListening();
    }
    if (!folds()) return;
    this.#newest = undefined;
    over(streamProblem);
  }
}

/**
 * Reads the streams of one task.
 *
 * Invariants
 * - S1: no event is lost or repeated. So only the events of the newest stream count.
 * - After an interruption, the next stream continues after the last event that was read.
 * - S2: a restored backup may lack events that were read. If the task then grows past the cursor, the agent accepts the
 *   cursor. So the next stream repeats the last event that was read, if possible. If this event differs, the agent has
 *   lost steps.
 */
import { isDeepStrictEqual } from 'node:util';
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
  /** Called if the agent has lost steps that were read. The next event is read after the promise resolves. */
  stepsLost: () => Promise<void>;
  streamed: (change: TaskStreamChange) => void;
  /** Called when the reader has stopped. `streamProblem` says why it could not keep a stream open. */
  over: (streamProblem: ProductError | undefined) => void;
}

/**
 * A stream: the response to a message, or a subscription that `open` started. Two streams are equal only if they are
 * the same object.
 */
type OpenStream = { type: 'response' } | { type: 'subscription'; end: AbortController };

/** The last event that was read, and its `seq`. `after` is the `seq` of the view before the event. */
interface LastEvent {
  event: StreamResponse;
  seq: number;
  after: number;
}

export class TaskStreamReader {
  readonly #for: TaskReading;
  /** Undefined if the view had no `seq` before or after the event, or if a stream has repeated the event. */
  #last: LastEvent | undefined;
  /** The event that the open stream must repeat first. Undefined after its first event. */
  #expected: LastEvent | undefined;
  /** The newest stream. Only its events count. Undefined if the reader reads no stream. */
  #newest: OpenStream | undefined;

  constructor(reading: TaskReading) {
    this.#for = reading;
  }

  /** True if the newest stream is open, or will soon be opened again. */
  get isReading(): boolean {
    return this.#newest !== undefined;
  }

  /** True if the open stream must still repeat the last event. The agent may have lost this event. */
  get isUnconfirmed(): boolean {
    return this.#expected !== undefined;
  }

  /** Reads the stream of an agent's response to a message. This stream becomes the newest. */
  begin(first: StreamResponse, rest: AsyncIterator<StreamResponse>, connection: A2aConnection): void {
    const earlier = this.#newest;
    const stream: OpenStream = { type: 'response' };
    this.#newest = stream;
    if (earlier?.type === 'subscription') earlier.end.abort();
    this.#applyEvent(first, connection);
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

  #applyEvent(event: StreamResponse, connection: A2aConnection): void {
    const before = this.#for.view();
    this.#for.applyEvent(event, connection);
    const view = this.#for.view();
    const [after, seq] = [before?.seq ?? null, view?.seq ?? null];
    if (view?.taskId !== before?.taskId || after === null || seq === null) this.#last = undefined;
    else if (seq > after) this.#last = { event, seq, after };
  }

  /** Returns the last event if the view has nothing newer. */
  get #repeatable(): LastEvent | undefined {
    return this.#last?.seq === this.#for.view()?.seq ? this.#last : undefined;
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
        if (this.#newest === stream) this.#applyEvent(next.value, connection);
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
    const { backOff, agent, view, enough, streamEnded, stepsLost, over, streamed } = this.#for;
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
        position: () => (view()?.taskId === taskId ? (this.#repeatable?.after ?? view()?.seq ?? null) : null),
        enough: () => !folds() || enough(),
        onEvent: (event, connection) => {
          if (!folds()) return;
          const last = this.#expected;
          this.#expected = undefined;
          if (last === undefined) return this.#applyEvent(event, connection);
          const isLost = !isDeepStrictEqual(event, last.event);
          // A confirmed event is not repeated again. Otherwise a stream that breaks after each event makes no progress.
          const confirm = (): void => {
            if (this.#last === last) this.#last = undefined;
          };
          return isLost ? stepsLost().then(confirm) : confirm();
        },
        onOpen: () => {
          this.#expected = this.#repeatable;
          report({ type: 'opened' });
        },
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

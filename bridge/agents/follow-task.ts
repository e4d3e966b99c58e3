/**
 * Reads the events of a task after a position. When a stream ends early, opens a new one. S1: with cursors, no event is
 * lost or repeated. Without cursors, an event may repeat.
 */
import type { StreamResponse } from '@a2a-js/sdk';
import { DEFAULT_BACK_OFF, type BackOffOptions } from '../../shared/runtime/back-off.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { keepReadingStream } from '../../shared/runtime/keep-reading.ts';
import type { Agent } from './agent.ts';
import type { A2aConnection, MoreOrEnough } from './connection.ts';

interface FollowTaskOptions {
  agent: Agent;
  taskId: string;
  signal: AbortSignal;
  /** True to receive the model's reasoning too. */
  thinking?: boolean | undefined;
  backOff?: BackOffOptions | undefined;
  /** Returns the `seq` of the last event that was read. Returns null before the first event. */
  position: () => number | null;
  /** Returns true if the caller needs no more events. Called after each event and after each stream. */
  enough: (connection: A2aConnection) => boolean;
  /** If this returns a promise, the next event is read after the promise resolves. */
  onEvent: (event: StreamResponse, connection: A2aConnection) => void | Promise<void>;
  onOpen?: () => void;
  onEnd?: () => void;
  /** Called when a stream breaks or ends early. The bridge then opens the stream again. */
  onCut?: (error: ProductError) => void;
}

/**
 * Follows a task until the caller has enough events.
 * @throws ProductError if the task cannot be followed; the abort reason of `signal`
 */
export async function followTask(followed: FollowTaskOptions): Promise<void> {
  const { agent, taskId, signal, thinking, backOff = DEFAULT_BACK_OFF, position, enough } = followed;
  const failed = (thrown: unknown): ProductError => agent.failed(thrown);
  await keepReadingStream({
    backOff,
    signal,
    position,
    async read(opened) {
      const connection = await agent.connect().catch((thrown: unknown) => {
        throw failed(thrown);
      });
      let cut: ProductError | undefined;
      try {
        await connection.follow({
          taskId,
          after: position(),
          thinking,
          signal,
          onOpen() {
            opened();
            followed.onOpen?.();
          },
          onEvent(event) {
            const verdict = (): MoreOrEnough => (enough(connection) ? 'enough' : 'more');
            const taken = followed.onEvent(event, connection);
            return taken === undefined ? verdict() : taken.then(verdict);
          },
        });
        followed.onEnd?.();
      } catch (thrown) {
        cut = failed(thrown);
        if (!mayReopenStream(cut)) throw cut;
      }
      if (enough(connection)) return 'enough';
      if (cut !== undefined) throw cut;
      return 'ended';
    },
    passes: mayReopenStream,
    endedEarly: () =>
      new ProductError(
        'AGENT_UNREACHABLE',
        `Agent "${agent.name}" ends the task's stream before the task has settled. The task was not touched by this.`,
      ),
    onCut: (error) => followed.onCut?.(failed(error)),
  });
}

/**
 * Returns true if the stream may be opened again after this error. A refusal with a known reason, such as UNKNOWN_TASK,
 * would come again. An AGENT_ERROR may be temporary: it is also the reason of an error within a stream.
 */
function mayReopenStream(error: unknown): boolean {
  return error instanceof ProductError && (error.retryable || error.reason === 'AGENT_ERROR');
}

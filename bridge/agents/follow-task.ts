/**
 * Reads a task's events after a position. Opens a new stream when one ends early. With cursors, no event repeats (S1).
 * Without cursors, an event may repeat.
 */
import type { StreamResponse } from '@a2a-js/sdk';
import { BACK_OFF, type BackOff } from '../../shared/runtime/back-off.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import { keepReading } from '../../shared/runtime/keep-reading.ts';
import type { Agent } from './agent.ts';
import type { A2aConnection } from './connection.ts';

interface FollowedTask {
  agent: Agent;
  taskId: string;
  signal: AbortSignal;
  /** True to get the model's reasoning too. */
  thinking?: boolean | undefined;
  backOff?: BackOff | undefined;
  /** The `seq` of the last event that was read; null if there is none. */
  position: () => number | null;
  /** True when the caller needs no more events. Checked after each event and after each stream. */
  enough: (connection: A2aConnection) => boolean;
  onEvent: (event: StreamResponse, connection: A2aConnection) => void;
  onOpen?: () => void;
  onEnd?: () => void;
  /** Called when a stream breaks or ends early. The bridge then opens the stream again. */
  onCut?: (error: ProductError) => void;
}

/** Resolves when the caller has enough. @throws ProductError when the task cannot be followed; the abort of `signal` */
export async function followTask(followed: FollowedTask): Promise<void> {
  const {
    agent,
    taskId,
    signal,
    thinking,
    backOff = BACK_OFF,
    position,
    enough,
    onEvent,
    onOpen,
    onEnd,
    onCut,
  } = followed;
  const failed = (thrown: unknown): ProductError => agent.failed(thrown);
  await keepReading({
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
            onOpen?.();
          },
          onEvent(event) {
            onEvent(event, connection);
            return enough(connection) ? 'enough' : 'more';
          },
        });
        onEnd?.();
      } catch (thrown) {
        cut = failed(thrown);
        if (!passes(cut)) throw cut;
      }
      if (enough(connection)) return 'enough';
      if (cut !== undefined) throw cut;
      return 'ended';
    },
    passes,
    endedEarly: () =>
      new ProductError(
        'AGENT_UNREACHABLE',
        `Agent "${agent.name}" ends the task's stream before the task has settled. The task was not touched by this.`,
      ),
    onCut: (error) => onCut?.(failed(error)),
  });
}

/**
 * Returns whether to open the stream again after this error. A refused request would be refused again. An error that
 * ended a stream may be temporary.
 */
function passes(error: unknown): boolean {
  return error instanceof ProductError && (error.retryable || error.reason === 'AGENT_ERROR');
}

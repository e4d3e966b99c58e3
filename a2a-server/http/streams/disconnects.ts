/**
 * Cancels a task whose client has disconnected, if the operator wants that (`--on-disconnect cancel`).
 *
 * A client disconnects when it closes the connection of its message before the end of the answer. It has some time to
 * reconnect: another message, or a subscription, keeps the task. The end of a mere subscription cancels nothing. The
 * journal does not store disconnects. So after a server restart the tasks continue.
 */
import type { Clock } from '../../../shared/runtime/clock.ts';
import { messageOf, ProductError } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { TaskService } from '../../executor/task-service.ts';

export const ON_DISCONNECT = ['detach', 'cancel'] as const;

/** A client must reconnect within this many milliseconds. */
export const RECONNECT_MS = 10_000;

const REASON = 'its client disconnected and did not come back';

/** The end of a reader: `read` if the server ended the stream, `cut` if the client closed it. */
export type ReaderEnd = 'read' | 'cut';

export interface Disconnects {
  /** Call this when a client starts to read a task. @returns a function to call once when the reader ends */
  reads(taskId: string, how: { principal: string; by: 'message' | 'subscription' }): (end: ReaderEnd) => void;
  /** After this, no disconnect cancels a task. */
  stop(): void;
}

export const IGNORED_DISCONNECTS: Disconnects = {
  reads: () => () => undefined,
  stop: () => undefined,
};

interface Readers {
  open: number;
  /** True if the sender of the message has disconnected. */
  left: boolean;
  cancelTimer?: () => void;
}

export function cancellingDisconnects({
  tasks,
  clock,
  log,
}: {
  tasks: Pick<TaskService, 'cancel'>;
  clock: Clock;
  log: Logger;
}): Disconnects {
  const readers = new Map<string, Readers>();

  async function cancel(taskId: string, principal: string): Promise<void> {
    readers.delete(taskId);
    try {
      await tasks.cancel(taskId, { principal, channel: 'disconnect' }, REASON);
    } catch (error) {
      if (error instanceof ProductError && error.reason === 'TASK_ENDED') return;
      log.warn({ taskId, problem: messageOf(error) }, 'a task could not be cancelled after a disconnect');
    }
  }

  return {
    reads(taskId, { principal, by }) {
      const task = readers.get(taskId) ?? { open: 0, left: false };
      readers.set(taskId, task);
      task.open += 1;
      task.cancelTimer?.();
      return (end) => {
        task.open -= 1;
        // The server ends a stream when the task waits or has ended. So this is no disconnect.
        if (end === 'read') task.left = false;
        else if (by === 'message') task.left = true;
        if (task.open > 0) return;
        if (!task.left) readers.delete(taskId);
        else {
          log.debug({ taskId, waitMs: RECONNECT_MS }, 'the client of a task disconnected');
          task.cancelTimer = clock.after(RECONNECT_MS, () => void cancel(taskId, principal));
        }
      };
    },
    stop() {
      for (const { cancelTimer } of readers.values()) cancelTimer?.();
      readers.clear();
    },
  };
}

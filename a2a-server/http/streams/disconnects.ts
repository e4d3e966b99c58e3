/**
 * Cancels a task whose client has disconnected, if the operator wants that (`--on-disconnect cancel`).
 *
 * A client disconnects when it cuts the stream, or the request, with which it sent a message. It has some time to come
 * back: another message, or a subscription, keeps the task. A client that only watches a task never ends it. This needs
 * nothing of the journal: after a restart of the server nobody's disconnect is known, and the tasks go on.
 */
import type { Clock } from '../../../shared/runtime/clock.ts';
import { messageOf, ProductError } from '../../../shared/runtime/errors.ts';
import type { Logger } from '../../../shared/runtime/logging.ts';
import type { TaskService } from '../../executor/task-service.ts';

export const ON_DISCONNECT = ['detach', 'cancel'] as const;

/** How long a client has to come back, in milliseconds. */
export const RECONNECT_MS = 10_000;

const REASON = 'its client disconnected and did not come back';

/** How a reader of a task ends. */
export type ReaderEnd = 'read' | 'cut';

export interface Disconnects {
  /** A client reads a task. @returns call it once when the reader ends */
  reads(taskId: string, how: { principal: string; by: 'message' | 'subscription' }): (end: ReaderEnd) => void;
  /** Cancels no task any more. */
  stop(): void;
}

export const IGNORED_DISCONNECTS: Disconnects = {
  reads: () => () => undefined,
  stop: () => undefined,
};

interface Readers {
  open: number;
  /** The client that sent the message has cut it. */
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
        // A stream that the server ends says that the task waits or has ended.
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

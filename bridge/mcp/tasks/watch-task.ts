/** Watches a task, and passes its state to the client after each change. */
import type { BridgeContext } from '../bridge-context.ts';
import type { NameOfTool } from '../../tool-names/tool-names.ts';
import type { DetailedTask } from './detailed-task.ts';
import type { ClientFollowedTasks } from '../../sessions/client-followed-tasks.ts';
import { findMcpTask, currentMcpTask } from './find-task.ts';

interface WatchContext {
  bridge: () => Promise<BridgeContext>;
  name: NameOfTool;
  /** True if the client can open the URL of a form in URL mode. */
  opensUrls: boolean;
  followed: ClientFollowedTasks | undefined;
  /**
   * Sends the state of the task. "Each notification carries a complete `DetailedTask`", like the response of
   * `tasks/get`.
   */
  push: (task: DetailedTask) => void;
}

/**
 * Sends the state of the task now, and again after each change. Stops after the state `completed` or `cancelled`.
 * @returns a function that stops watching
 * @throws ProductError if the task is unknown, or its agent cannot be reached
 */
export async function watchMcpTask(
  id: string,
  { bridge, name, opensUrls, followed, push }: WatchContext,
): Promise<() => void> {
  const opened = await bridge();
  const found = await findMcpTask(opened, id);
  let last = '';
  let telling = false;
  let changed = false;
  let over = false;
  const stop = (): void => {
    over = true;
    unlisten();
    stopReading();
  };
  const tell = async (): Promise<void> => {
    changed = true;
    if (telling) return;
    telling = true;
    try {
      // One notification covers all changes since the previous one. So a slow client gets fewer notifications.
      while (changed && !isOver()) {
        changed = false;
        const task = await currentMcpTask(id, found, { bridge: opened, name, opensUrls, followed });
        const said = JSON.stringify({ ...task, lastUpdatedAt: '' });
        if (said === last || isOver()) continue;
        last = said;
        push(task);
        if (task.status === 'completed' || task.status === 'cancelled') stop();
      }
    } finally {
      telling = false;
    }
  };
  const isOver = (): boolean => over;
  const changedNow = (): void => {
    // The error is only logged: the next change sends the state again, and the client can also poll.
    tell().catch((error: unknown) =>
      opened.log.warn({ taskId: id, err: error }, 'the state of a task could not be sent to a subscriber'),
    );
  };
  // The agent's stream is read even while the task waits, because another client may decide.
  const stopReading = found.session.watch();
  const unlisten = found.session.listen((change) => {
    if (change.type === 'state') changedNow();
  });
  changedNow();
  return stop;
}

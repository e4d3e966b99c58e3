/** A task as it changes, for whoever listens to it. */
import type { Bridge } from '../bridge-context.ts';
import type { ToolName } from '../../tool-names/tool-name.ts';
import type { DetailedTask } from './detailed-task.ts';
import type { FollowedTasks } from '../../sessions/followed-tasks.ts';
import { findTask, showTask } from './find-task.ts';

export interface Watching {
  bridge: () => Promise<Bridge>;
  /** A tool's name as this client sees it. */
  name: (tool: ToolName) => string;
  /** The client opens the addresses of forms in URL mode. */
  opensUrls: boolean;
  followed: FollowedTasks | undefined;
  /** "Each notification carries a complete `DetailedTask`": what `tasks/get` would answer at that moment. */
  push: (task: DetailedTask) => void;
}

/**
 * Pushes the task as it is now, and whenever it is told otherwise from then on; after its end nothing more.
 * @returns how to stop
 * @throws ProductError when there is no such task, or it cannot be asked for
 */
export async function watchTask(
  id: string,
  { bridge, name, opensUrls, followed, push }: Watching,
): Promise<() => void> {
  const opened = await bridge();
  const found = await findTask(opened, id);
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
      // What happens while one is told is told with the next: a task that talks a lot sends no more than is read.
      while (changed && !isOver()) {
        changed = false;
        const task = await showTask(id, found, { bridge: opened, name, opensUrls, followed });
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
  // What another client decides while the task waits is told as well.
  const stopReading = found.session.watch();
  const unlisten = found.session.listen((change) => {
    if (change.type !== 'activity') void tell();
  });
  void tell();
  return stop;
}

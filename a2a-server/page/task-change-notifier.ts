import type { ChangedTasks } from '../journal/committed-entries.ts';

/** Notifies the open task lists that tasks have changed, on this server or on another one. */
export class TaskChangeNotifier {
  readonly #listeners = new Set<(tasks: ChangedTasks) => void>();

  /** Notifies the listeners about changed tasks. Call this after an append is durable. */
  note(tasks: ChangedTasks): void {
    for (const listener of this.#listeners) listener(tasks);
  }

  /** Calls `listener` for each change of any task. Returns a function that removes the listener. */
  listen(listener: (tasks: ChangedTasks) => void): () => void {
    const each = (tasks: ChangedTasks): void => listener(tasks);
    this.#listeners.add(each);
    return () => this.#listeners.delete(each);
  }
}

/** Tells the open task lists that tasks have changed. */
export class TaskChanges {
  readonly #listeners = new Set<(taskId: string) => void>();

  /** Call this after an append is durable. */
  note(taskId: string): void {
    for (const listener of this.#listeners) listener(taskId);
  }

  /** Calls `listener` for each change of any task. Returns a function that removes the listener. */
  listen(listener: (taskId: string) => void): () => void {
    const each = (taskId: string): void => listener(taskId);
    this.#listeners.add(each);
    return () => this.#listeners.delete(each);
  }
}

/** Wakes the watchers of a task after an append. Stores nothing for a task without watchers. */
export class AppendWatchers {
  readonly #tasks = new Map<string, Set<{ wake: () => void }>>();

  get size(): number {
    return this.#tasks.size;
  }

  get taskIds(): string[] {
    return [...this.#tasks.keys()];
  }

  has(taskId: string): boolean {
    return this.#tasks.has(taskId);
  }

  /** Adds a watcher. @returns a function that removes the watcher. After this removal, `wake` is never called. */
  add(taskId: string, wake: () => void): () => void {
    const watcher = { wake };
    const watchers = this.#tasks.get(taskId) ?? new Set();
    this.#tasks.set(taskId, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#tasks.get(taskId) === watchers) this.#tasks.delete(taskId);
    };
  }

  /**
   * Wakes the task's watchers, each in its own microtask. So an error of one watcher reaches neither the caller nor the
   * other watchers.
   */
  wake(taskId: string): void {
    const watchers = this.#tasks.get(taskId);
    if (watchers === undefined) return;
    for (const watcher of watchers) {
      queueMicrotask(() => {
        if (watchers.has(watcher)) watcher.wake();
      });
    }
  }

  clear(): void {
    for (const watchers of this.#tasks.values()) watchers.clear();
    this.#tasks.clear();
  }
}

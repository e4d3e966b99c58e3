/** Who waits for a task's next entry. Holds nothing for a task that nobody watches. */
export class Watchers {
  readonly #tasks = new Map<string, Set<{ wake: () => void }>>();

  /** How many tasks are watched. */
  get size(): number {
    return this.#tasks.size;
  }

  has(taskId: string): boolean {
    return this.#tasks.has(taskId);
  }

  /** @returns how to stop; after that, `wake` is not called any more. */
  add(taskId: string, wake: () => void): () => void {
    const watcher = { wake };
    const watchers = this.#tasks.get(taskId) ?? new Set();
    this.#tasks.set(taskId, watchers.add(watcher));
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#tasks.get(taskId) === watchers) this.#tasks.delete(taskId);
    };
  }

  /** Wakes whoever watches the task, each on its own: what one of them throws reaches neither the others nor the caller. */
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

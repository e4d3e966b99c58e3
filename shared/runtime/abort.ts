/**
 * A tree of abort scopes: server → task → turn → model request and tool executions. A scope owns one AbortSignal.
 *
 * - If a scope is aborted, all its children are aborted. If a scope is closed, its children leave the tree, and no
 *   signal aborts.
 * - A scope adds no listener to a signal.
 * - The first abort or close of a scope wins. Later ones have no effect.
 */

export class AbortScope<Reason> {
  readonly #controller = new AbortController();
  readonly #children = new Set<AbortScope<Reason>>();
  #parent: AbortScope<Reason> | undefined;
  #aborted: { reason: Reason } | undefined;

  constructor(parent?: AbortScope<Reason>) {
    this.#parent = parent;
    if (parent === undefined) return;
    if (parent.#aborted === undefined) parent.#children.add(this);
    else this.abort(parent.#aborted.reason);
  }

  /**
   * The signal of this scope. Its reason is a plain `AbortError`, because libraries report the signal's reason as their
   * own error. The reason of the abort is in `reason`.
   */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The reason of the abort. Undefined before the abort. */
  get reason(): Reason | undefined {
    return this.#aborted?.reason;
  }

  /** Returns a new child scope. If this scope is aborted, the child is aborted too. */
  child(): AbortScope<Reason> {
    return new AbortScope(this);
  }

  /** Aborts this scope and all scopes below it. Returns false if the scope was already aborted. */
  abort(reason: Reason): boolean {
    if (this.#aborted !== undefined) return false;
    this.#aborted = { reason };
    for (const child of this.#children) child.abort(reason);
    this.#controller.abort();
    this.#detach();
    return true;
  }

  /** Removes this scope from the tree after its work has ended. Aborts no signal. */
  close(): void {
    this.#children.clear();
    this.#detach();
  }

  #detach(): void {
    if (this.#parent !== undefined) this.#parent.#children.delete(this);
    this.#parent = undefined;
  }
}

/**
 * Calls `act` once when `signal` aborts, or immediately if it has already aborted. Returns a function that removes the
 * listener. The caller must call that function on every path. Otherwise a long-lived signal collects listeners.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) {
    act();
    return () => undefined;
  }
  signal.addEventListener('abort', act, { once: true });
  return () => signal.removeEventListener('abort', act);
}

/**
 * Returns the result of the work, unless the signal aborts first. The work itself may continue after the abort.
 * @param discard releases a result that arrives after the abort
 * @throws the reason of the abort, or the error of the work
 */
export function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  discard?: (late: T) => unknown,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => {
      if (discard) work.then(discard).catch(() => undefined);
      reject(signal.reason);
    });
    void work.then(resolve, reject).finally(stopListening);
  });
}

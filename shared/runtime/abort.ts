/**
 * A tree of abort scopes: server → task → turn → model call and tool executions.
 *
 * - The abort of a scope aborts all its children. The close of a scope detaches its children and sends no signal.
 * - A scope adds no listener to a signal.
 * - The first reason stays. A second abort or close has no effect.
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
   * Aborts with a plain `AbortError`. The scope has the reason, because libraries must not report the reason as their
   * own error.
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

  /** Aborts this scope and all scopes below it. Returns false if the scope was aborted before. */
  abort(reason: Reason): boolean {
    if (this.#aborted !== undefined) return false;
    this.#aborted = { reason };
    for (const child of this.#children) child.abort(reason);
    this.#controller.abort();
    this.#detach();
    return true;
  }

  /** Removes this scope from the tree when its work has ended. Sends no signal. */
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
 * Calls `act` once when `signal` aborts, or at once if it has already aborted. Returns a function that removes the
 * listener. The caller must call that function on every path, so that a long-lived signal keeps no listeners.
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
 * Waits for the work until the signal aborts, even if the work cannot be cancelled.
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

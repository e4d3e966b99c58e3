/**
 * Abort scopes: a tree of lifetimes, e.g. server → task → execution → tool execution.
 *
 * Invariants
 * - Closing or aborting a parent does the same to its children first-in, first-out; a child never outlives it.
 * - A scope holds its children and nothing else: no listener is left on a signal by building the tree.
 * - The first reason wins; aborting or closing again changes nothing.
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

  /** Aborted with a bare `AbortError`; the reason is read from the scope, so that no library reports it as its own error. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why this scope was aborted, if it was. */
  get reason(): Reason | undefined {
    return this.#aborted?.reason;
  }

  /** How many scopes live below this one: zero once all work under it has settled. */
  get size(): number {
    return this.#children.size;
  }

  /** A new scope below this one; born aborted when this one is. */
  child(): AbortScope<Reason> {
    return new AbortScope(this);
  }

  /** Aborts this scope and all below it. @returns false when it had been aborted before. */
  abort(reason: Reason): boolean {
    if (this.#aborted !== undefined) return false;
    this.#aborted = { reason };
    for (const child of this.#children) child.abort(reason);
    this.#controller.abort();
    this.#detach();
    return true;
  }

  /** The work is over: leaves the tree without a signal. */
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
 * Calls `act` once when `signal` aborts; at once when it has.
 * @returns how to stop listening. Call it on every path, so that a long-lived signal gathers no listeners.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) {
    act();
    return () => undefined;
  }
  signal.addEventListener('abort', act, { once: true });
  return () => signal.removeEventListener('abort', act);
}

/**
 * The unloading of a page. `pagehide` is the last event that every browser sends; `unload` and `beforeunload` keep a page
 * out of the back/forward cache, and phones leave them out (HTML Standard §7.4.6).
 *
 * It fires for a page that is only put into that cache too (`event.persisted`). Both count as leaving: whether a browser
 * keeps a page is its own affair, and what happens to a person's work must not hang on it. A page that comes back sees
 * what became of its executions.
 *
 * Invariant: there is a listener exactly while somebody wants to be told, and never more than one (R51).
 */
const LEAVING = 'pagehide';

export class PageWatch {
  readonly #page: EventTarget | undefined;
  readonly #onLeaving: () => void;
  #watching = false;

  /** @param page undefined where there is none: nothing is ever told then */
  constructor(page: EventTarget | undefined, onLeaving: () => void) {
    this.#page = page;
    this.#onLeaving = onLeaving;
  }

  watch(wanted: boolean): void {
    if (wanted === this.#watching || this.#page === undefined) return;
    this.#watching = wanted;
    if (wanted) this.#page.addEventListener(LEAVING, this.#left);
    else this.#page.removeEventListener(LEAVING, this.#left);
  }

  readonly #left = (): void => {
    this.watch(false);
    this.#onLeaving();
  };
}

/** The page this runs in. Node has none; in a worker nothing is ever told. */
export function thisPage(): EventTarget | undefined {
  const page: unknown = globalThis;
  return 'onpagehide' in globalThis && page instanceof EventTarget ? page : undefined;
}

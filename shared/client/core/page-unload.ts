/**
 * Calls back when the page unloads. It uses `pagehide`, the last event that every browser sends. `unload` and `beforeunload`
 * keep a page out of the back/forward cache, and phones omit them (HTML Standard §7.4.6).
 *
 * A page that only enters the cache sends `pagehide` too (`event.persisted`). Both cases count as leaving. The browser alone
 * decides whether to cache a page, and a person's task must not depend on that.
 *
 * Invariant: it has one listener while a callback is wanted, and none otherwise (R51).
 */
const LEAVING = 'pagehide';

export class PageUnload {
  readonly #page: EventTarget | undefined;
  readonly #onLeaving: () => void;
  #watching = false;

  /** @param page undefined outside a page: then it never calls back */
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

/** The current page. Undefined in Node and in workers, which have no `pagehide`. */
export function thisPage(): EventTarget | undefined {
  const page: unknown = globalThis;
  return 'onpagehide' in globalThis && page instanceof EventTarget ? page : undefined;
}
